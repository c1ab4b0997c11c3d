#include "cli/commands/run_budget.h"

#include <fmt/format.h>

#include <utility>

#include "cli/basics/exit_status.h"
#include "cli/budget/report_formats.h"
#include "core/printable.h"

namespace memprof {
namespace {

// What is over, in one line: the heaviest, and where it comes from.
std::string OverLine(const CheckReport& report, const std::string& capture) {
  const std::vector<OverItem> over = ItemsOver(report);
  const CheckItem& first = *over[0].item;
  std::string line = fmt::format("over budget: {} {}", TitleOf(first), first.says);
  if (!first.behind.rows.empty()) line += ", most in " + first.behind.rows[0].function;
  if (over.size() > 1) line += fmt::format(", and {} more", over.size() - 1);
  line += fmt::format("; see: memprof check {} --budget {}", ShellWord(capture),
                      ShellWord(report.budget));
  if (!report.baseline.empty()) line += " --baseline " + ShellWord(report.baseline);
  return Printable(line);
}

std::string WithinLine(const CaptureCheck& check) {
  std::string line = fmt::format("within budget: {} checks", CountOf(check, Standing::kWithin));
  if (const size_t not_judged = CountOf(check, Standing::kNotJudged); not_judged != 0) {
    line += fmt::format(", {} not judged", not_judged);
  }
  // A budget that is kept by what was not counted isn't kept.
  for (const std::string& unseen : check.unseen) line += "; but " + unseen;
  return Printable(line);
}

}  // namespace

Result<RunBudget> RunBudget::Load(const RunBudgetOptions& options, const SymbolOptions& symbols) {
  auto yardstick = LoadYardstick(options.file, options.baseline, symbols);
  if (!yardstick) return tl::unexpected<Error>(yardstick.error());
  RunBudget budget;
  budget.options_ = options;
  budget.yardstick_ = std::move(*yardstick);
  return budget;
}

void RunBudget::Conclude(const RunOutcome& outcome, const std::string& capture,
                         const SymbolOptions& symbols, bool quiet, Conclusion& conclusion) const {
  const bool programs = outcome.signalled || outcome.code != 0;
  const bool decides = options_.decides || !programs;
  // The last line says already why there is no capture.
  if (!conclusion.has_capture) {
    if (decides) conclusion.status = kExitRefused;
    return;
  }
  const CheckReport report = Check(yardstick_, {capture}, symbols);
  if (IsUnreadable(report)) {
    if (decides) conclusion.status = kExitRefused;
    conclusion.lines.push_back("the budget can't be checked: " + report.captures[0].error);
    return;
  }
  const bool over = IsOver(report);
  if (decides) conclusion.status = over ? kExitOverBudget : 0;
  if (over && !quiet) conclusion.report = TextReport(report, StyleOfFile());
  if (over && (decides || !quiet)) {
    conclusion.last_line = OverLine(report, capture);
  } else if (!over && !quiet) {
    conclusion.last_line = WithinLine(report.captures[0]);
  }
}

}  // namespace memprof
