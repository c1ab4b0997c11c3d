// The options that the terminal reports share.
#pragma once

#include <string>
#include <vector>

#include "cli/basics/option_checks.h"
#include "cli/commands/options/figure_options.h"
#include "cli/load/load.h"
#include "cli/reports/rows.h"
#include "cli/symbols/symbol_options.h"
#include "cli/terminal/output.h"

namespace memprof {

struct ViewOptions {
  Captures captures;
  FigureOptions which;
  bool show_runtime = false;
  size_t rows = 0;  // 0: all
  Option rows_option;
  std::string sort = "bytes";
  bool json = false;
  bool csv = false;
  SymbolOptions symbols;
  OutputOptions output;

  Figure figure() const { return which.figure(); }

  // JSON and CSV have all rows unless a number was asked for.
  size_t DataRows() const { return rows_option.count() != 0 ? rows : 0; }
};

// --json and --csv, for other programs; at most one of them.
inline void AddDataOptions(Arguments& arguments, bool& json, bool& csv) {
  Option as_json = arguments.AddFlag("--json", json, "As JSON, all rows unless -n is given");
  arguments.AddFlag("--csv", csv, "As CSV, all rows unless -n is given").Excludes(as_json);
}

inline void AddProcessOption(Arguments& arguments, ProcessSelector& processes) {
  arguments
      .Add("--process", processes.patterns,
           "Only what processes of this pid or program (a shell's pattern) have: of a merge, "
           "as FILE.all of run, or of several captures; repeatable")
      .TypeName("PATTERN|PID")
      .OneValueEach();
}

inline void AddCaptures(Arguments& arguments, Captures& captures) {
  arguments
      .Add("capture", captures.names,
           "The capture, or a file of run --region; of several their merge")
      .Required()
      .TypeName("CAPTURE...");
  AddProcessOption(arguments, captures.processes);
}

inline void AddViewOptions(Arguments& arguments, ViewOptions& options, size_t rows) {
  options.rows = rows;
  AddCaptures(arguments, options.captures);
  AddFigureOptions(arguments, options.which);
  arguments.AddFlag("--show-runtime", options.show_runtime,
                    "Show what libc and libstdc++ keep by design row by row");
  options.rows_option = arguments.Add("-n,--rows", options.rows, "At most so many rows; 0: all")
                            .ShowDefault()
                            .Check(RowCount);
  arguments.Add("-s,--sort", options.sort, "What the rows are sorted by")
      .TypeName("bytes|allocations|total|function")
      .ShowDefault();
  AddDataOptions(arguments, options.json, options.csv);
  AddSymbolOptions(arguments, options.symbols);
  AddWrapperOption(arguments);
  AddOutputOptions(arguments, options.output);
}

}  // namespace memprof
