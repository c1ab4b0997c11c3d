// Arguments: what a command declares of its options and positionals.
//
//   arguments.Add("-o,--output", options->file, "The capture's file").TypeName("FILE");
//   arguments.AddFlag("-f,--force", options->force, "Overwrite an existing capture");
//
// CLI11 parses the command line. This is all of it that a command needs: a file that includes CLI11
// itself takes five seconds more to compile.
//
// Thread safety: one thread. Ownership: handles of what CLI11 owns, which lives as long as main();
// the variables that are given must, too.
// Failure: a value that doesn't fit is said when the command line is parsed.
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
  Option& ShowDefault();  // the variable's value as it is now
  Option& ShowDefault(const std::string& text);
  // An empty text where the value is fine, else why it isn't.
  Option& Check(std::function<std::string(const std::string&)> check);
  Option& Excludes(const Option& other);
  Option& Needs(const Option& other);
  // For one that fills a vector: it takes a value each time that it is given.
  Option& OneValueEach();
  // For AddTaken's: it may be given several times, and its function gets each value.
  Option& EachTime();

  size_t count() const;  // how often it was given

 private:
  CLI::Option* option_ = nullptr;
};

class Arguments {
 public:
  Arguments() = default;
  explicit Arguments(CLI::App& app) : app_(&app) {}

  Option Add(const std::string& name, std::string& value, const std::string& description);
  Option Add(const std::string& name, std::vector<std::string>& values,
             const std::string& description);
  Option Add(const std::string& name, uint32_t& value, const std::string& description);
  Option Add(const std::string& name, uint64_t& value, const std::string& description);
  Option AddFlag(const std::string& name, bool& value, const std::string& description);
  // `take` gets the value; its error is the command line's.
  Option AddTaken(const std::string& name, std::function<Result<void>(const std::string&)> take,
                  const std::string& description);

  Option Get(const std::string& name) const;
  bool IsGiven(const std::string& name) const;
  std::vector<std::string> GivenOptions() const;

  Arguments AddCommand(const std::string& name, const std::string& summary);
  void RequireCommand();

  // From the first word on that is no option, all is the command line of a program.
  void EndWithCommandLine();
  // That command line, with the "--" before it if there is one.
  std::vector<std::string> CommandLine() const;

  const CLI::App& app() const { return *app_; }

 private:
  CLI::App* app_ = nullptr;
};

}  // namespace memprof
