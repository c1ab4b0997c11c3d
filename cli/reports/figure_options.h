// --leaks, --total, --temporary: which figure a report is of, instead of the peak. At most one.
#pragma once

#include "cli/command.h"
#include "core/figure.h"

namespace memprof {

struct FigureOptions {
  bool leaks = false;
  bool total = false;
  bool temporary = false;

  Figure figure() const {
    return leaks       ? Figure::kLeaked
           : total     ? Figure::kTotal
           : temporary ? Figure::kTemporary
                       : Figure::kPeak;
  }
};

inline void AddFigureOptions(CLI::App& app, FigureOptions& options) {
  CLI::Option* leaks =
      app.add_flag("--leaks", options.leaks, "What was never freed, instead of the peak");
  CLI::Option* total =
      app.add_flag("--total", options.total, "All that was allocated, instead of the peak")
          ->excludes(leaks);
  app.add_flag("--temporary", options.temporary,
               "What was freed soon after it was allocated (run --temporary), instead of the peak")
      ->excludes(leaks)
      ->excludes(total);
}

}  // namespace memprof
