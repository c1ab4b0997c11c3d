// The looks of a running program as text and as JSON.
//
// Thread safety: pure.
#pragma once

#include <string>
#include <vector>

#include "cli/live/live_lines.h"
#include "cli/live/live_session.h"
#include "cli/terminal/terminal.h"

namespace memprof {

// One line: what runs, since when, its heap, peak, RSS and rate. Without a newline.
std::string LiveHeadText(const LiveSession& session);

// The table, with at most `rows` rows and a line for the others; 0: all. It sums to the heap unless it
// is filtered or inclusive.
std::string LiveTableText(const LiveSession& session, const LiveView& view, size_t rows,
                          const TextStyle& style);

// The headings, these lines of the view, and the sum of all rows; each is one line. `last` is the index
// behind the last one.
std::string LiveLinesText(const LiveSession& session, const LiveView& view, const LiveLines& lines,
                          size_t first, size_t last, const TextStyle& style);

// One line by docs/schemas/top.json.
std::string LiveJson(const LiveSession& session, const LiveView& view, size_t rows);

// The runs that are alive as a table, and by docs/schemas/list.json.
std::string RunsText(const std::vector<ShownRun>& runs, const TextStyle& style);
std::string RunsJson(const std::vector<ShownRun>& runs);

}  // namespace memprof
