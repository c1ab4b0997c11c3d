// memprof table: one row a place.

#include "cli/reports/table.h"

#include <memory>

#include "cli/reports/report.h"
#include "cli/reports/row_text.h"
#include "cli/reports/trust.h"
#include "cli/reports/view_options.h"

namespace memprof {

CommandBody SetUpTable(CLI::App& app) {
  constexpr size_t kRows = 50;
  auto options = std::make_shared<ViewOptions>();
  AddViewOptions(app, *options, kRows);
  return [options] {
    const auto sort = ParseSortKey(options->sort);
    if (!sort) return ExitStatusOf(sort.error());
    return Report(options->capture, options->symbols, options->output, options->figure(),
                  [&](const Profile& profile, const TextStyle& style) {
                    const RowOptions rows = {options->figure(), options->show_runtime, *sort};
                    return SamplingHead(profile, style) + MomentHead(profile, style) +
                           RowText(profile, LocationRows(profile, rows),
                                   {options->figure(), options->rows, *sort, false, true, style});
                  });
  };
}

}  // namespace memprof
