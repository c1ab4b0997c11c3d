// memprof table: one row a place.

#include "cli/reports/table.h"

#include <memory>
#include <vector>

#include "cli/reports/report.h"
#include "cli/reports/row_data.h"
#include "cli/reports/row_text.h"
#include "cli/reports/trust.h"
#include "cli/reports/view_options.h"

namespace memprof {

CommandBody SetUpTable(CLI::App& app) {
  constexpr size_t kRows = 50;
  struct Options {
    ViewOptions view;
    bool bottom_up = false;
  };
  auto options = std::make_shared<Options>();
  AddViewOptions(app, options->view, kRows);
  app.add_flag("--bottom-up", options->bottom_up, "Below each place the functions that call it");
  return [options] {
    const ViewOptions& view = options->view;
    const auto sort = ParseSortKey(view.sort);
    if (!sort) return ExitStatusOf(sort.error());
    return Report(
        view.capture, view.symbols, view.output, view.figure(),
        [&](const Profile& profile, const TextStyle& style) {
          const RowOptions what = {view.figure(), view.show_runtime, *sort, options->bottom_up};
          const std::vector<LocationRow> rows = LocationRows(profile, what);
          if (view.json) return RowsJson(profile, rows, what.figure, view.DataRows());
          if (view.csv) return RowsCsv(profile, rows, view.DataRows());
          return SamplingHead(profile, style) + MomentHead(profile, style) +
                 RowText(profile, rows, {what.figure, view.rows, *sort, false, true, style});
        });
  };
}

}  // namespace memprof
