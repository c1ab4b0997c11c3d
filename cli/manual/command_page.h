// CommandPage: what one command takes, read from its CLI11 definition.
//
//   memprof ─┬─ options      --version
//            └─ commands ─┬─ table ── options ── {-n, --rows} UINT
//                         │        └─ arguments ── capture, a file, repeated
//                         └─ budget ── commands ── init …
//
// What a value is follows from the type's name in the definition: FILE and CAPTURE… are files,
// "a|b|c" in lower case are all the words there are, COMMAND is a program, [ARGS...] a whole
// command line. All others have no completions.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace memprof {

enum class ValueKind { kNone, kOpaque, kFile, kWords, kCommand, kCommandLine };

struct OptionPage {
  std::vector<std::string> names;  // "-o", "--output"; of an argument its name alone
  std::string description;
  std::string value;     // the type's name: "FILE"; empty for a flag
  std::string fallback;  // the default, if it is told
  ValueKind kind = ValueKind::kNone;
  std::vector<std::string> words;     // of kWords
  std::vector<std::string> excludes;  // longest names
  std::vector<std::string> needs;
  bool required = false;
  bool repeated = false;
};

struct CommandPage {
  std::string name;  // the last word: "init"
  std::string path;  // from memprof on: "memprof budget init"
  std::string summary;
  std::vector<std::string> examples;  // one command a line
  std::vector<OptionPage> options;
  std::vector<OptionPage> arguments;
  std::vector<CommandPage> commands;
};

CommandPage ReadCommand(const CLI::App& app, std::string_view parent_path = "");

ValueKind KindOf(std::string_view type_name);
std::vector<std::string> WordsOf(std::string_view type_name);

}  // namespace memprof
