// memprof summary: what ran, how high its heap was, what it leaked, and which places allocated it.

#include <memory>

#include "cli/basics/ascii_text.h"
#include "cli/commands/commands.h"
#include "cli/commands/options/view_options.h"
#include "cli/reports/exactness.h"
#include "cli/reports/report.h"
#include "cli/reports/row_data.h"
#include "cli/reports/summary_text.h"

namespace memprof {

CommandBody SetUpSummary(Arguments& arguments) {
  constexpr size_t kRows = 12;
  auto options = std::make_shared<ViewOptions>();
  AddViewOptions(arguments, *options, kRows);
  options->symbols.names_packages = true;
  return [options] {
    const auto sort = ParseSortKey(options->sort);
    if (!sort) return ExitStatusOf(sort.error());
    return Report(options->captures, options->symbols, options->output, options->figure(),
                  [&](const Profile& profile, const TextStyle& style) {
                    const RowOptions what = {options->figure(), options->show_runtime, *sort};
                    const size_t rows = options->DataRows();
                    if (options->json || options->csv) SayChosen(profile);
                    if (options->json) {
                      return RowsJson(profile, LocationRows(profile, what), what.figure, rows);
                    }
                    if (options->csv) return RowsCsv(profile, LocationRows(profile, what), rows);
                    return ForLocale(SummaryText(profile, what, options->rows, style));
                  });
  };
}

}  // namespace memprof
