// memprof check: checks captures against a budget.

#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "cli/basics/ascii_text.h"
#include "cli/basics/message.h"
#include "cli/budget/check.h"
#include "cli/budget/report_formats.h"
#include "cli/budget/step_summary.h"
#include "cli/commands/commands.h"
#include "cli/terminal/output.h"
#include "core/printable.h"

namespace memprof {
namespace {

// Further exit statuses than those of exit_status.h.
constexpr int kExitOver = 1;

struct CheckOptions {
  std::vector<std::string> captures;
  std::string budget;
  std::vector<std::string> baselines;
  std::string format = "text";
  std::string today;
  bool allow_cut = false;
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
  auto yardstick = LoadYardstick(options.budget, options.baselines, options.symbols);
  if (!yardstick) return ExitStatusOf(yardstick.error());
  if (!options.today.empty()) {
    const auto today = ParseDay(options.today);
    if (!today) return ExitStatusOf(today.error());
    yardstick->today = *today;
  }
  yardstick->allow_cut = options.allow_cut;
  const CheckReport report = Check(*yardstick, options.captures, options.symbols);
  for (const CaptureCheck& check : report.captures) {
    if (!check.error.empty()) Say(check.error);
    for (const std::string& line : check.unseen) {
      Say("warning: {}: {}", check.capture, Printable(line));
    }
  }
  // 1 says that a limit is exceeded; a report that can't be written is another failure.
  std::string text = format->write(report, StyleOf(options.output));
  if (format->write == TextReport) text = ForLocale(std::move(text));
  const bool written = WriteOutput(options.output, text) == kExitFine;
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
      .Add("--baseline", options->baselines,
           "The capture that limits like \"+5%\" are against, and that the stacks are "
           "compared with, or a folder of kept ones; repeatable: against the median")
      .TypeName("CAPTURE|FOLDER")
      .OneValueEach();
  arguments.Add("--format", options->format, "How the report is written")
      .TypeName(FormatNames("|"))
      .ShowDefault();
  arguments
      .Add("--today", options->today,
           "The day that suppressions expire by, instead of today's (UTC)")
      .TypeName("YYYY-MM-DD");
  arguments.AddFlag("--allow-cut", options->allow_cut,
                    "Judge also a capture without an end, by its run's last checkpoint");
  options->symbols.names_packages = true;
  AddSymbolOptions(arguments, options->symbols);
  AddWrapperOption(arguments);
  AddOutputOptions(arguments, options->output);
  return [options] { return RunCheck(*options); };
}

}  // namespace memprof
