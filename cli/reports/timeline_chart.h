// The timeline as lines of text: a bar for each column, in eighths of a line.
//
//   heap over time   6.1 MiB ▕   ▂▅██▇▇
//                        0 B ▕▁▃███████▇▇▁
//                  0 ms … 2.1 s, 98 ms a column
//
// Thread safety: pure.
#pragma once

#include <string>

#include "cli/terminal/terminal.h"
#include "core/snapshot/history.h"

namespace memprof {

// Heap and RSS; empty if there is no timeline. `indent` is the width of the names at the left. A
// column shows the highest value of its time; a column without a value repeats the one before.
std::string TimelineChart(const Timeline& timeline, size_t indent, const TextStyle& style);

}  // namespace memprof
