// The flame graph page: one HTML file that works from a disk, offline, for ever. The page's code
// and style are bundled at build time (build.mjs) and lie in the executable; what is written here
// is the capture's data, as JSON inside a <script type="application/json">.
//
// Failure: none; text that isn't UTF-8 gets replacement characters.
// Invariants
//   1. The figures of the rows sum to the profile's totals in every mode, whatever was folded.
//   2. No text of the capture can end the data's element or be executed: every '<' is written as
//      \u003c, and the page shows text as text only.
//   3. The page makes no request: its own Content-Security-Policy forbids it.
//
// Thread safety: pure functions. The same profile and options give the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/web/page_tree.h"
#include "core/figure.h"
#include "core/profile/profile.h"

namespace memprof {

struct PageOptions {
  Figure mode = Figure::kPeak;  // what the page shows first
  std::string capture;          // the capture's name, for the title
  // One line each: what keeps the figures from being exact and complete. Empty: nothing does, and
  // the page says so.
  std::vector<std::string> warnings;
  // The text of a line of a file; empty: not known. None: the page shows no source.
  std::function<std::string(const std::string& file, uint32_t line)> source_line;
  size_t max_source_bytes = 1u << 20;
  PageLimits limits;
  size_t max_data_bytes = 9'600'000;  // with the page's own 300 KB below 10 MB
};

// The data alone.
//
//   {"schema": 1, "mode": "peak", "capture": …, "program": {…}, "totals": {"peak": [bytes, n], …},
//    "kept_by_design": [bytes, n],
//    "warnings": […], "notes": […], "strings": ["", …], "frames": {columns of string indexes},
//    "nodes": {"parent": […], "frame": […]}, "threads": [name, …],
//    "own": {"node": […], "thread": […], "peak_bytes": […], "peak_allocations": […], …}}
//
// "own" has a row for each (node, thread) where a site ends; the page sums up towards the root.
// Without "thread" there is one. "temporary_threshold" is 0 where the capture doesn't know what was
// temporary; the figure is 0 then.
//
// "frames" may have a column "source": the text of the frame's first line.
//
// Where the profile has them, also
//
//   "timeline": {"interval_ms": n, "time_ms": […], "heap_bytes": […], "rss_bytes": [… or null]},
//   "moments":  {"interval_ms": n, "time_ms": […], "inexact": [0 or 1, …], "heap_bytes": […],
//                "allocations": […]},
//   "history":  {"node": […], "changes": [how many of each], "moment": […], "bytes": […],
//                "allocations": […]},
//   "selected": {"time_ms": n, "text": "live at 9 min 58 s"}
//
// "history" has what was live of a node's own at the moments, as the differences to the moment
// before: at moment m the sum of those of moments up to m. "selected" says that what is called peak
// is what was live at that time.
std::string PageData(const Profile& profile, const PageOptions& options);

std::string MakePage(const Profile& profile, const PageOptions& options);

}  // namespace memprof
