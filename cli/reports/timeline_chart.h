// The timeline as lines of text: a bar a column, with eighths of a line.
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

// Heap and RSS; nothing where there is no timeline. `indent`: columns of the names before them. A
// column shows the highest of its time; where nothing was seen of it, what was there before.
std::string TimelineChart(const Timeline& timeline, size_t indent, const TextStyle& style);

}  // namespace memprof
