// The options that the terminal reports share.
#pragma once

#include <string>

#include "cli/option_checks.h"
#include "cli/reports/output.h"
#include "cli/reports/rows.h"
#include "cli/symbols/symbol_options.h"

namespace memprof {

struct ViewOptions {
  std::string capture;
  bool leaks = false;
  bool temporary = false;
  bool show_runtime = false;
  size_t rows = 0;  // 0: all
  std::string sort = "bytes";
  SymbolOptions symbols;
  OutputOptions output;

  Figure figure() const {
    return temporary ? Figure::kTemporary : leaks ? Figure::kLeaked : Figure::kPeak;
  }
};

inline void AddViewOptions(CLI::App& app, ViewOptions& options, size_t rows) {
  options.rows = rows;
  app.add_option("capture", options.capture, "The capture, or a file of run --region")->required();
  CLI::Option* leaks =
      app.add_flag("--leaks", options.leaks, "What was never freed, instead of the peak");
  app.add_flag("--temporary", options.temporary,
               "What was freed soon after it was allocated (run --temporary), instead of the peak")
      ->excludes(leaks);
  app.add_flag("--show-runtime", options.show_runtime,
               "Show what libc and libstdc++ keep by design row by row");
  app.add_option("-n,--rows", options.rows, "At most so many rows; 0: all")
      ->capture_default_str()
      ->check(RowCount, "");
  app.add_option("-s,--sort", options.sort, "bytes, allocations, total or function")
      ->capture_default_str();
  AddSymbolOptions(app, options.symbols);
  AddOutputOptions(app, options.output);
}

}  // namespace memprof
