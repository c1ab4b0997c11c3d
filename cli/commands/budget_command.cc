// memprof budget init: a first budget file from captures.

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/budget/initial_budget.h"
#include "cli/commands/commands.h"
#include "cli/load/load.h"
#include "cli/reports/exactness.h"
#include "cli/terminal/output.h"
#include "core/printable.h"

namespace memprof {
namespace {

struct InitOptions {
  std::vector<std::string> captures;
  SymbolOptions symbols;
  OutputOptions output;
};

int Init(const InitOptions& options) {
  if (const auto free = CheckOutput(options.output); !free) return ExitStatusOf(free.error());
  std::vector<Profile> profiles;
  std::vector<InitialRun> runs;
  profiles.reserve(options.captures.size());
  for (const std::string& capture : options.captures) {
    auto profile = LoadProfile(capture, options.symbols);
    if (!profile) return ExitStatusOf(profile.error());
    if (std::string why = CutText(*profile); !why.empty()) {
      return ExitStatusOf({ErrorKind::kUnreadable, fmt::format("{}: {}", capture, why)});
    }
    profiles.push_back(std::move(*profile));
    runs.push_back({&profiles.back(), capture});
    if (profiles.back().program.program != profiles[0].program.program) {
      return ExitStatusOf(
          {ErrorKind::kUsage, fmt::format("{} is of {}, and {} of {}: a budget is for one program",
                                          capture, profiles.back().program.program,
                                          options.captures[0], profiles[0].program.program)});
    }
  }
  const InitialBudgetText budget = InitialBudget(runs);
  const int status = WriteOutput(options.output, budget.text);
  for (const std::string& line : budget.flaky) Say("warning: {}", Printable(line));
  return status;
}

}  // namespace

CommandBody SetUpBudget(Arguments& arguments) {
  auto options = std::make_shared<InitOptions>();
  arguments.RequireCommand();
  Arguments init =
      arguments.AddCommand("init", "Write a first budget file: what captures have, and some more");
  init.Add("captures", options->captures,
           "The captures; several of the same work show how much its figures vary")
      .Required()
      .TypeName("CAPTURE...");
  AddSymbolOptions(init, options->symbols);
  AddWrapperOption(init);
  AddOutputOptions(init, options->output);
  return [options] { return Init(*options); };
}

}  // namespace memprof
