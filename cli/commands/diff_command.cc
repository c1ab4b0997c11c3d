// memprof diff: the changes from one capture to another. Exit status 0, whatever changed.

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/basics/ascii_text.h"
#include "cli/basics/option_checks.h"
#include "cli/commands/commands.h"
#include "cli/commands/options/figure_options.h"
#include "cli/commands/options/view_options.h"
#include "cli/load/load.h"
#include "cli/reports/difference/diff_data.h"
#include "cli/reports/difference/diff_page.h"
#include "cli/reports/difference/diff_text.h"
#include "cli/reports/exactness.h"
#include "cli/reports/report.h"
#include "cli/terminal/output.h"
#include "core/profile/renamed_functions.h"

namespace memprof {
namespace {

struct DiffOptions {
  SymbolOptions symbols;
  std::string before, after;
  ProcessSelector processes;  // applies to both captures
  std::string by = "site";
  std::string sort = "bytes";
  FigureOptions which;
  size_t rows = 30;
  bool json = false;
  bool csv = false;
  bool html = false;
  OutputOptions output;
};

// Like flamegraph: writes a file beside the capture, and its name to stdout.
int WritePage(const DiffOptions& options, const DiffSide& before, const DiffSide& after,
              const DiffPageOptions& page) {
  const int status = WriteOutput(options.output, MakeDiffPage(before, after, page));
  if (status != kExitFine || IsStdout(options.output)) return status;
  return WriteOutput({}, options.output.file + "\n");
}

int Diff(DiffOptions options) {
  if (options.output.file.ends_with(".html") && !options.json && !options.csv) options.html = true;
  if (options.html && options.output.file.empty()) {
    options.output.file = options.after + ".diff.html";
  }
  const auto by = ParseDiffBy(options.by);
  if (!by) return ExitStatusOf(by.error());
  const auto sort = ParseDiffSort(options.sort);
  if (!sort) return ExitStatusOf(sort.error());
  const Figure figure = options.which.figure();
  if (const auto free = CheckOutput(options.output); !free) return ExitStatusOf(free.error());
  auto before = LoadProfile({{options.before}, options.processes}, options.symbols);
  if (!before) return ExitStatusOf(before.error());
  const auto after = LoadProfile({{options.after}, options.processes}, options.symbols);
  if (!after) return ExitStatusOf(after.error());
  if (figure == Figure::kTemporary) {
    const std::pair<const std::string*, const Profile*> sides[] = {{&options.before, &*before},
                                                                   {&options.after, &*after}};
    for (const auto& [name, profile] : sides) {
      if (profile->tracker.temporary_threshold != 0) continue;
      return ExitStatusOf({ErrorKind::kUnreadable, NoTemporaryText(*name)});
    }
  }

  if (figure != Figure::kPeak && (before->chosen || after->chosen)) {
    return ExitStatusOf(
        {ErrorKind::kUsage, fmt::format("{} is of whole runs, and a moment has only what was live "
                                        "then; leave it out",
                                        figure == Figure::kLeaked  ? "--leaks"
                                        : figure == Figure::kTotal ? "--total"
                                                                   : "--temporary")});
  }

  const std::vector<RenamedFunction> renamed = FindRenamedFunctions(*before, *after);
  ApplyLaterNames(renamed, *before);
  if (options.json || options.csv) {
    SayChosen(*before);
    SayChosen(*after);
    const std::vector<DiffRow> rows = DiffRows(*before, *after, *by, figure, *sort);
    return WriteOutput(options.output, options.json ? DiffJson(*before, *after, *by, rows, renamed)
                                                    : DiffCsv(*before, *after, rows));
  }
  const DiffSide old = {options.before, &*before, RenamedNote(renamed)};
  const DiffSide now = {options.after, &*after};
  if (options.html) return WritePage(options, old, now, {*by, figure});
  return WriteOutput(
      options.output,
      ForLocale(DiffText(old, now, {*by, figure, *sort, options.rows, StyleOf(options.output)})));
}

}  // namespace

CommandBody SetUpDiff(Arguments& arguments) {
  auto options = std::make_shared<DiffOptions>();
  arguments.Add("before", options->before, "The capture to compare with")
      .Required()
      .TypeName("CAPTURE");
  arguments.Add("after", options->after, "The capture that is compared")
      .Required()
      .TypeName("CAPTURE");
  arguments
      .Add("--by", options->by,
           "What is compared: the site is the whole stack. Named by symbol, whatever lines and "
           "addresses are")
      .TypeName("site|function|module")
      .ShowDefault();
  AddProcessOption(arguments, options->processes);
  AddFigureOptions(arguments, options->which);
  arguments.Add("-n,--rows", options->rows, "At most so many rows of text; 0: all that changed")
      .ShowDefault()
      .Check(RowCount);
  arguments.Add("-s,--sort", options->sort, "What the rows are sorted by")
      .TypeName("bytes|allocations|function")
      .ShowDefault();
  Option json = arguments.AddFlag("--json", options->json, "As JSON: all rows with all figures");
  Option csv =
      arguments.AddFlag("--csv", options->csv, "As CSV: all rows with all figures").Excludes(json);
  arguments
      .AddFlag("--html", options->html,
               "As a red and blue flame graph with a table: one HTML file (default: "
               "AFTER.diff.html)")
      .Excludes(json)
      .Excludes(csv);
  options->symbols.names_packages = true;
  AddSymbolOptions(arguments, options->symbols);
  AddWrapperOption(arguments);
  AddOutputOptions(arguments, options->output);
  return [options] { return Diff(*options); };
}

}  // namespace memprof
