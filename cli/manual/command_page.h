// CommandPage: the options and arguments of one command, read from its CLI11 definition.
//
//   memprof ─┬─ options      --version
//            └─ commands ─┬─ table ── options ── {-n, --rows} UINT
//                         │        └─ arguments ── capture, a file, repeated
//                         └─ budget ── commands ── init …
//
// The type's name in the definition tells the kind of a value: FILE and CAPTURE… are files, "a|b|c"
// in lower case lists all possible words, COMMAND is a program, [ARGS...] a whole command line. All
// others have no completions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace memprof {

enum class ValueKind { kNone, kOpaque, kFile, kWords, kCommand, kCommandLine };

struct OptionPage {
  std::vector<std::string> names;  // "-o", "--output"; for an argument only its name
  std::string description;
  std::string value;     // the type's name: "FILE"; empty for a flag
  std::string fallback;  // the default, if there is one to show
  ValueKind kind = ValueKind::kNone;
  std::vector<std::string> words;     // for kWords
  std::vector<std::string> excludes;  // their longest names
  std::vector<std::string> needs;
  bool required = false;
  bool repeated = false;
};

struct CommandPage {
  std::string name;  // the last word: "init"
  std::string path;  // with all words: "memprof budget init"
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
