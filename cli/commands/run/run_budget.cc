#include "cli/commands/run/run_budget.h"

#include <fmt/format.h>

#include <utility>

#include "cli/basics/exit_status.h"
#include "cli/budget/report_formats.h"
#include "core/printable.h"
#include "core/units.h"

namespace memprof {
namespace {

// The most captures that --budget-of each judges: those of the heaviest.
constexpr size_t kMostEach = 64;

struct Judged {
  std::vector<std::string> captures;
  std::string what;  // "the whole tree (the program and 4 children)"
};

std::string Children(uint64_t count) {
  return count == 1 ? "1 child" : FormatCount(count) + " children";
}

Judged ChooseCaptures(BudgetOf of, const StartedRunOutcome& run, bool has_program) {
  const TreeOutcome& tree = run.descendants;
  const std::vector<std::string> program =
      has_program ? std::vector<std::string>{run.output} : std::vector<std::string>();
  if (of == BudgetOf::kProgram) return {program, "the program alone"};
  if (of == BudgetOf::kEach) {
    Judged judged = {program, {}};
    judged.captures.insert(judged.captures.end(), tree.files.begin(), tree.files.end());
    judged.what = fmt::format("each of {}", FormatCountOf(judged.captures.size(), "capture"));
    if (tree.images > tree.files.size()) judged.what += ", those of the heaviest";
    return judged;
  }
  if (!tree.merge.empty()) {
    return {{tree.merge},
            fmt::format("the whole tree ({}{})", has_program ? "the program and " : "",
                        tree.processes != 0 ? Children(tree.processes) : "its earlier images")};
  }
  if (tree.living != 0) {
    return {program, fmt::format("the program alone, since {} of it still {} (--wait judges all)",
                                 Children(tree.living), tree.living == 1 ? "runs" : "run")};
  }
  if (!tree.merge_error.empty()) return {program, "the program alone, since there is no merge"};
  return {program, "the program, which had no children"};
}

// One line for all that is over: the heaviest item, and the place behind it.
std::string OverLine(const CheckReport& report, const std::string& what) {
  const std::vector<OverItem> over = ItemsOver(report);
  const CheckItem& first = *over[0].item;
  std::string line = fmt::format("over budget: {} {}", TitleOf(first), first.says);
  if (!first.contributors.rows.empty()) line += ", most in " + first.contributors.rows[0].function;
  if (over.size() > 1) line += fmt::format(", and {} more", over.size() - 1);
  line += fmt::format("; judged: {}; see: memprof check {} --budget {}", what,
                      ShellWord(over[0].check->capture), ShellWord(report.budget));
  line += report.baseline_options;
  return Printable(line);
}

std::string WithinLine(const CheckReport& report, const std::string& what) {
  size_t within = 0, not_judged = 0;
  std::string unseen;
  for (const CaptureCheck& check : report.captures) {
    within += CountOf(check, Standing::kWithin);
    not_judged += CountOf(check, Standing::kNotJudged);
    // If something wasn't counted, being within the budget proves nothing.
    for (const std::string& line : check.unseen) {
      if (unseen.find(line) == std::string::npos) unseen += "; but " + line;
    }
  }
  std::string line = "within budget: " + FormatCountOf(within, "check");
  if (not_judged != 0) line += fmt::format(", {} not judged", not_judged);
  return Printable(line + unseen + "; judged: " + what);
}

}  // namespace

Result<RunBudget> RunBudget::Load(const RunBudgetOptions& options, const SymbolOptions& symbols) {
  auto yardstick = LoadYardstick(options.file, options.baselines, symbols);
  if (!yardstick) return tl::unexpected<Error>(yardstick.error());
  RunBudget budget;
  budget.options_ = options;
  budget.yardstick_ = std::move(*yardstick);
  return budget;
}

size_t RunBudget::ChildrenFiles() const { return options_.of == BudgetOf::kEach ? kMostEach : 0; }

std::vector<std::string> RunBudget::Conclude(const StartedRunOutcome& run,
                                             const SymbolOptions& symbols, bool quiet,
                                             Conclusion& conclusion) const {
  const RunOutcome& outcome = run.program;
  const bool programs = outcome.signalled || outcome.code != 0 || outcome.timed_out;
  const bool decides = options_.decides || !programs;
  const Judged judged = ChooseCaptures(options_.of, run, conclusion.has_capture);
  // The last line already says why there is no capture.
  if (judged.captures.empty() || (!conclusion.has_capture && !outcome.left_out)) {
    if (decides) conclusion.status = kExitRefused;
    if (outcome.left_out) {
      conclusion.lines.push_back("the budget can't be checked: there is no capture of " +
                                 judged.what);
    }
    return {};
  }
  const CheckReport report = Check(yardstick_, judged.captures, symbols);
  if (IsUnreadable(report)) {
    if (decides) conclusion.status = kExitRefused;
    for (const CaptureCheck& check : report.captures) {
      if (check.error.empty()) continue;
      conclusion.lines.push_back("the budget can't be checked: " + check.error);
      break;
    }
    return judged.captures;
  }
  const bool over = IsOver(report);
  if (decides) conclusion.status = over ? kExitOverBudget : 0;
  if (over && !quiet) conclusion.report = TextReport(report, StyleOfFile());
  std::string line;
  if (over && (decides || !quiet)) {
    line = OverLine(report, judged.what);
  } else if (!over && !quiet) {
    line = WithinLine(report, judged.what);
  }
  std::vector<std::string> captures_over;
  for (const CaptureCheck& check : report.captures) {
    if (IsOver(check)) captures_over.push_back(check.capture);
  }
  if (line.empty()) return captures_over;
  // The last line is for whoever decides the status.
  if (!decides && !conclusion.last_line.empty()) std::swap(line, conclusion.last_line);
  if (!conclusion.last_line.empty()) conclusion.lines.push_back(std::move(conclusion.last_line));
  conclusion.last_line = std::move(line);
  return captures_over;
}

}  // namespace memprof
