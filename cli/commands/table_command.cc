// memprof table: one row for each place.

#include <memory>
#include <vector>

#include "cli/basics/ascii_text.h"
#include "cli/commands/commands.h"
#include "cli/commands/options/view_options.h"
#include "cli/load/load.h"
#include "cli/reports/exactness.h"
#include "cli/reports/mappings/mapping_rows.h"
#include "cli/reports/report.h"
#include "cli/reports/row_data.h"
#include "cli/reports/row_text.h"

namespace memprof {
namespace {

int ReportMappings(const ViewOptions& view) {
  if (const auto free = CheckOutput(view.output); !free) return ExitStatusOf(free.error());
  const auto profile = LoadProfile(view.captures, view.symbols);
  if (!profile) return ExitStatusOf(profile.error());
  if (const std::string why = WhyNoMappings(*profile, TextOfNames(view.captures.names));
      !why.empty()) {
    return ExitStatusOf({ErrorKind::kUnreadable, why});
  }
  const Figure figure = view.figure();
  return WriteOutput(
      view.output,
      view.json  ? MappingsJsonText(*profile, figure, view.DataRows())
      : view.csv ? MappingsCsv(*profile, figure, view.DataRows())
                 : ForLocale(ProcessHead(*profile, StyleOf(view.output)) +
                             MappingsText(*profile, figure, view.rows, StyleOf(view.output))));
}

}  // namespace

CommandBody SetUpTable(Arguments& arguments) {
  constexpr size_t kRows = 50;
  struct Options {
    ViewOptions view;
    bool bottom_up = false;
    bool mmap = false;
  };
  auto options = std::make_shared<Options>();
  AddViewOptions(arguments, options->view, kRows);
  Option bottom_up = arguments.AddFlag("--bottom-up", options->bottom_up,
                                       "Below each place the functions that call it");
  arguments
      .AddFlag("--mmap", options->mmap,
               "What the program mapped itself (mmap, mremap, brk), instead of its heap")
      .Excludes(bottom_up)
      .Excludes(arguments.Get("--temporary"))
      .Excludes(arguments.Get("--sort"));
  return [options] {
    const ViewOptions& view = options->view;
    if (options->mmap) return ReportMappings(view);
    const auto sort = ParseSortKey(view.sort);
    if (!sort) return ExitStatusOf(sort.error());
    return Report(
        view.captures, view.symbols, view.output, view.figure(),
        [&](const Profile& profile, const TextStyle& style) {
          const RowOptions what = {view.figure(), view.show_runtime, *sort, options->bottom_up};
          const std::vector<LocationRow> rows = LocationRows(profile, what);
          if (view.json || view.csv) SayChosen(profile);
          if (view.json) return RowsJson(profile, rows, what.figure, view.DataRows());
          if (view.csv) return RowsCsv(profile, rows, view.DataRows());
          return ForLocale(
              ProcessHead(profile, style) + SamplingHead(profile, style) +
              MomentHead(profile, style) +
              RowText(profile, rows, {what.figure, view.rows, *sort, false, true, style}));
        });
  };
}

}  // namespace memprof
