// memprof budget init: a first budget file from a capture.

#include <memory>
#include <string>

#include "cli/budget/initial_budget.h"
#include "cli/commands/commands.h"
#include "cli/load/load.h"
#include "cli/terminal/output.h"

namespace memprof {
namespace {

struct InitOptions {
  std::string capture;
  SymbolOptions symbols;
  OutputOptions output;
};

int Init(const InitOptions& options) {
  if (const auto free = CheckOutput(options.output); !free) return ExitStatusOf(free.error());
  const auto profile = LoadProfile(options.capture, options.symbols);
  if (!profile) return ExitStatusOf(profile.error());
  return WriteOutput(options.output, InitialBudget(*profile, options.capture));
}

}  // namespace

CommandBody SetUpBudget(Arguments& arguments) {
  auto options = std::make_shared<InitOptions>();
  arguments.RequireCommand();
  Arguments init = arguments.AddCommand(
      "init", "Write a first budget file: what a capture has, and a quarter more");
  init.Add("capture", options->capture, "The capture").Required().TypeName("CAPTURE");
  AddSymbolOptions(init, options->symbols);
  AddOutputOptions(init, options->output);
  return [options] { return Init(*options); };
}

}  // namespace memprof
