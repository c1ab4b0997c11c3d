// --leaks, --total, --temporary: the figure that a report shows instead of the peak. At most one.
#pragma once

#include "cli/basics/arguments.h"
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

inline void AddFigureOptions(Arguments& arguments, FigureOptions& options) {
  Option leaks =
      arguments.AddFlag("--leaks", options.leaks, "What was never freed, instead of the peak");
  Option total =
      arguments.AddFlag("--total", options.total, "All that was allocated, instead of the peak")
          .Excludes(leaks);
  arguments
      .AddFlag("--temporary", options.temporary,
               "What was freed soon after it was allocated (run --temporary), instead of the peak")
      .Excludes(leaks)
      .Excludes(total);
}

}  // namespace memprof
