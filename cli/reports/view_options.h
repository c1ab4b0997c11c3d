// The options that the terminal reports share.
#pragma once

#include <string>
#include <vector>

#include "cli/option_checks.h"
#include "cli/reports/figure_options.h"
#include "cli/reports/load.h"
#include "cli/reports/output.h"
#include "cli/reports/rows.h"
#include "cli/symbols/symbol_options.h"

namespace memprof {

struct ViewOptions {
  Captures captures;
  FigureOptions which;
  bool show_runtime = false;
  size_t rows = 0;  // 0: all
  CLI::Option* rows_option = nullptr;
  std::string sort = "bytes";
  bool json = false;
  bool csv = false;
  SymbolOptions symbols;
  OutputOptions output;

  Figure figure() const { return which.figure(); }

  // JSON and CSV hold all rows unless a number was asked for.
  size_t DataRows() const { return rows_option->count() != 0 ? rows : 0; }
};

// As data for other programs; at most one of them.
inline void AddDataOptions(CLI::App& app, bool& json, bool& csv) {
  CLI::Option* as_json = app.add_flag("--json", json, "As JSON, all rows unless -n is given");
  app.add_flag("--csv", csv, "As CSV, all rows unless -n is given")->excludes(as_json);
}

inline void AddProcessOption(CLI::App& app, ProcessSelector& processes) {
  app.add_option("--process", processes.patterns,
                 "Only what processes of this pid or program (a shell's pattern) have: of a merge, "
                 "as FILE.all of run, or of several captures; repeatable")
      ->type_name("PATTERN|PID")
      ->allow_extra_args(false);
}

inline void AddCaptures(CLI::App& app, Captures& captures) {
  app.add_option("capture", captures.names,
                 "The capture, or a file of run --region; of several their merge")
      ->required()
      ->type_name("CAPTURE...");
  AddProcessOption(app, captures.processes);
}

inline void AddViewOptions(CLI::App& app, ViewOptions& options, size_t rows) {
  options.rows = rows;
  AddCaptures(app, options.captures);
  AddFigureOptions(app, options.which);
  app.add_flag("--show-runtime", options.show_runtime,
               "Show what libc and libstdc++ keep by design row by row");
  options.rows_option = app.add_option("-n,--rows", options.rows, "At most so many rows; 0: all")
                            ->capture_default_str()
                            ->check(RowCount, "");
  app.add_option("-s,--sort", options.sort, "What the rows are sorted by")
      ->type_name("bytes|allocations|total|function")
      ->capture_default_str();
  AddDataOptions(app, options.json, options.csv);
  AddSymbolOptions(app, options.symbols);
  AddOutputOptions(app, options.output);
}

}  // namespace memprof
