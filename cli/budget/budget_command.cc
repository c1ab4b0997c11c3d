#include "cli/budget/budget_command.h"

#include <memory>
#include <string>

#include "cli/budget/initial_budget.h"
#include "cli/reports/load.h"
#include "cli/reports/output.h"

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

CommandBody SetUpBudget(CLI::App& app) {
  auto options = std::make_shared<InitOptions>();
  app.require_subcommand(1);
  CLI::App* init = app.add_subcommand(
      "init", "Write a first budget file: what a capture has, and a quarter more");
  init->add_option("capture", options->capture, "The capture")->required()->type_name("CAPTURE");
  AddSymbolOptions(*init, options->symbols);
  AddOutputOptions(*init, options->output);
  return [options] { return Init(*options); };
}

}  // namespace memprof
