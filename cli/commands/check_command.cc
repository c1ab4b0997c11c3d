// memprof check: captures against a budget.

#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "cli/basics/message.h"
#include "cli/budget/check.h"
#include "cli/budget/report_formats.h"
#include "cli/budget/step_summary.h"
#include "cli/commands/commands.h"
#include "cli/terminal/output.h"
#include "core/printable.h"

namespace memprof {
namespace {

// Exit statuses beside those of command.h.
constexpr int kExitOver = 1;

struct CheckOptions {
  std::vector<std::string> captures;
  std::string budget;
  std::string baseline;
  std::string format = "text";
  std::string today;
  SymbolOptions symbols;
  OutputOptions output;
};

std::string FormatNames(const char* separator) {
  std::string names;
  for (const ReportFormat& format : ReportFormats()) {
    names += (names.empty() ? "" : separator) + std::string(format.name);
  }
  return names;
}

int RunCheck(const CheckOptions& options) {
  const ReportFormat* format = FindReportFormat(options.format);
  if (format == nullptr) {
    Say("--format {}: there are {}", options.format, FormatNames(", "));
    return kExitUsage;
  }
  if (const auto free = CheckOutput(options.output); !free) return ExitStatusOf(free.error());
  auto yardstick = LoadYardstick(options.budget, options.baseline, options.symbols);
  if (!yardstick) return ExitStatusOf(yardstick.error());
  if (!options.today.empty()) {
    const auto today = ParseDay(options.today);
    if (!today) return ExitStatusOf(today.error());
    yardstick->today = *today;
  }
  const CheckReport report = Check(*yardstick, options.captures, options.symbols);
  for (const CaptureCheck& check : report.captures) {
    if (!check.error.empty()) Say(check.error);
    for (const std::string& line : check.unseen) {
      Say("warning: {}: {}", check.capture, Printable(line));
    }
  }
  // 1 says that something is over: a report that can't be written is another failure.
  const bool written =
      WriteOutput(options.output, format->write(report, StyleOf(options.output))) == kExitFine;
  if (format->write == GithubReport) WriteStepSummary(report);
  if (IsUnreadable(report)) return kExitUnreadable;
  if (IsOver(report)) return kExitOver;
  return written ? kExitFine : kExitUsage;
}

}  // namespace

CommandBody SetUpCheck(Arguments& arguments) {
  auto options = std::make_shared<CheckOptions>();
  arguments.Add("captures", options->captures, "The captures; each is held against the budget")
      .Required()
      .TypeName("CAPTURE...");
  arguments.Add("--budget", options->budget, "The budget file; memprof budget init makes a first")
      .Required()
      .TypeName("FILE");
  arguments
      .Add("--baseline", options->baseline,
           "The capture that limits like \"+5%\" are against, and that the stacks are "
           "compared with")
      .TypeName("CAPTURE");
  arguments.Add("--format", options->format, "How the report is written")
      .TypeName(FormatNames("|"))
      .ShowDefault();
  arguments
      .Add("--today", options->today,
           "The day that suppressions expire by, instead of today's (UTC)")
      .TypeName("YYYY-MM-DD");
  AddSymbolOptions(arguments, options->symbols);
  AddOutputOptions(arguments, options->output);
  return [options] { return RunCheck(*options); };
}

}  // namespace memprof
