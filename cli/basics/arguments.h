// Arguments: declares a command's options and positionals.
//
//   arguments.Add("-o,--output", options->file, "The capture's file").TypeName("FILE");
//   arguments.AddFlag("-f,--force", options->force, "Overwrite an existing capture");
//
// CLI11 parses the command line. Commands use only this header: a file that includes CLI11 itself
// takes five seconds more to compile.
//
// Thread safety: one thread. Ownership: these are handles of objects that CLI11 owns. CLI11 lives
// as long as main(), and the variables passed in must live as long.
// Failure: a wrong value is reported when the command line is parsed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/result.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace memprof {

class Option {
 public:
  Option() = default;
  explicit Option(CLI::Option* option) : option_(option) {}

  Option& TypeName(const std::string& name);
  Option& Required();
  Option& ShowDefault();  // shows the variable's current value as the default
  Option& ShowDefault(const std::string& text);
  // The check returns an empty text for a good value, else what is wrong with it.
  Option& Check(std::function<std::string(const std::string&)> check);
  Option& Excludes(const Option& other);
  Option& Needs(const Option& other);
  // For an option that fills a vector: each time it is given, it takes one value.
  Option& OneValueEach();
  // For an option of AddTaken: it may be given several times, and its function gets each value.
  Option& EachTime();

  size_t count() const;  // how often the option was given

 private:
  CLI::Option* option_ = nullptr;
};

class Arguments {
 public:
  Arguments() = default;
  explicit Arguments(CLI::App& app) : app_(&app) {}

  // An option with a text takes no empty one.
  Option Add(const std::string& name, std::string& value, const std::string& description);
  Option Add(const std::string& name, std::vector<std::string>& values,
             const std::string& description);
  Option Add(const std::string& name, uint32_t& value, const std::string& description);
  Option Add(const std::string& name, uint64_t& value, const std::string& description);
  Option AddFlag(const std::string& name, bool& value, const std::string& description);
  // `take` gets the value; an error that it returns becomes the command line's.
  Option AddTaken(const std::string& name, std::function<Result<void>(const std::string&)> take,
                  const std::string& description);

  Option Get(const std::string& name) const;
  bool IsGiven(const std::string& name) const;
  std::vector<std::string> GivenOptions() const;

  Arguments AddCommand(const std::string& name, const std::string& summary);
  void RequireCommand();

  // The first word that is no option begins the command line of a program.
  void EndWithCommandLine();
  // That command line, with the "--" before it if there is one.
  std::vector<std::string> CommandLine() const;

  // The definition of the whole program, of which this command is one.
  const CLI::App& Program() const;

 private:
  CLI::App* app_ = nullptr;
};

}  // namespace memprof
