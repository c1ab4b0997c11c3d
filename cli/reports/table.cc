// memprof table: one row a place.

#include "cli/reports/table.h"

#include <memory>

#include "cli/reports/load.h"
#include "cli/reports/row_text.h"
#include "cli/reports/view_options.h"

namespace memprof {

CommandBody SetUpTable(CLI::App& app) {
  constexpr size_t kRows = 50;
  auto options = std::make_shared<ViewOptions>();
  AddViewOptions(app, *options, kRows);
  return [options] {
    const auto sort = ParseSortKey(options->sort);
    if (!sort) return ExitStatusOf(sort.error());
    const auto profile = LoadProfile(options->capture);
    if (!profile) return ExitStatusOf(profile.error());
    const auto rows = LocationRows(*profile, {options->leaks, options->show_runtime, *sort});
    return WriteOutput(
        options->output,
        RowText(*profile, rows, {options->leaks, options->rows, false, StyleOfStdout()}));
  };
}

}  // namespace memprof
