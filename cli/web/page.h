// The flame graph page: one HTML file that works from a disk, offline, for ever. The page's code
// and style are bundled at build time (build.mjs) and stored in the executable. Here the capture's
// data is added, as JSON inside a <script type="application/json">.
//
// Failure: none; text that isn't UTF-8 gets replacement characters.
// Invariants
//   1. The figures of the rows sum to the profile's totals in every mode, whatever was folded.
//   2. No text of the capture can end the data's element or be executed: every '<' is written as
//      \u003c, and the page shows text as text only.
//   3. The page makes no request: its own Content-Security-Policy forbids it. The live page asks its own
//      server only.
//
// Thread safety: pure functions. The same profile and options give the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/web/page_tree.h"
#include "core/figure.h"
#include "core/profile/profile.h"
#include "core/profile/statistics.h"

namespace memprof {

struct PageOptions {
  Figure mode = Figure::kPeak;  // the figure that the page shows first
  bool native_frames = false;   // it first shows a Python interpreter's frames, too
  std::string capture;          // the capture's name, for the title
  // One line for each reason why figures aren't exact and complete. Empty: there is none, and the
  // page says so.
  std::vector<std::string> warnings;
  std::string run;  // of a merge: which captures, and when they started; else empty
  std::optional<Statistics> statistics;  // the figures of `memprof stats`
  // Returns the text of a line of a file; empty: not known. If unset, the page shows no source.
  std::function<std::string(const std::string& file, uint32_t line)> source_line;
  size_t max_source_bytes = 1u << 20;
  PageLimits limits;
  size_t max_data_bytes = 9'600'000;  // together with the page's own 300 KB below 10 MB
};

// Only the data.
//
//   {"schema": 1, "mode": "peak", "native_frames": false, "capture": …, "program": {…}, "totals": {"peak": [bytes, n], …},
//    "kept_by_design": [bytes, n], "of_running_threads": [bytes, n],
//    "warnings": […], "notes": […], "strings": ["", …], "frames": {columns of string indexes},
//    "nodes": {"parent": […], "frame": […]}, "threads": [name, …],
//    "own": {"node": […], "thread": […], "peak_bytes": […], "peak_allocations": […], …},
//    "functions": {"function": […], "file": […], "module": […], "kind": […], "others": n,
//                  "self": {"of": […], "thread": […], "peak_bytes": […], …},
//                  "located": {…}, "inclusive": {…}}}
//
// "own" has a row for each (node, thread) where a site ends; the page sums up towards the root. If
// there is no "thread", there is only one. "temporary_threshold" is 0 if the capture doesn't know
// the temporary blocks; their figures are 0 then.
//
// "functions" are the figures by function over the whole profile (page_functions.h), which the nodes
// don't have if some were pruned. "of" is the function's index. In a sampled profile "self",
// "located" and "inclusive" have "variances" as well.
//
// "frames" may have a column "source": the text of the frame's first line.
//
// If the profile has them, there are also
//
//   "timeline": {"interval_ms": n, "time_ms": […], "heap_bytes": […], "rss_bytes": [… or null]},
//   "moments":  {"interval_ms": n, "time_ms": […], "inexact": [0 or 1, …], "heap_bytes": […],
//                "allocations": […]},
//   "history":  {"node": […], "changes": [how many of each], "moment": […], "bytes": […],
//                "allocations": […]},
//   "bands":    {"time_ms": […], "functions": [{"function": …, "file": …, "module": …, "kind": …,
//                "bytes": […], "allocations": […]}, …], "others": {"bytes": […], "allocations": […]},
//                "sources_without": n},
//   "running":  {"node": […], "bytes": […], "allocations": […]},
//   "selected": {"time_ms": n, "text": "live at 9 min 58 s"},
//   "mapped":   {"peak": [bytes, mappings], "end": [bytes, mappings]},
//   "rss":      {"time_ms": n, "bytes": n, "parts": [{"name": …, "meaning": …, "bytes": n}, …]}
//
// "bands" has what the functions that hold most had live (page_bands.h) at each of the profile's
// moments, of which "moments" may have only some.
//
// A merge also has "run", in words, and
//
//   "processes": {"count": n, "listed": [{"program": …, …, "own_peak": [bytes, n],
//                                         "totals": {…}, "own": {…}, "functions": {…}}, …],
//                 "together": {"count": n, "totals": {…}}}
//
// of which only the processes that are kept apart have "totals" and what follows, in the form of the
// whole capture's. "together" are all others, listed or not (page_processes.h). "statistics" has the
// figures of `memprof stats` (core/profile/statistics.h).
//
// "inspection" is what was lost, and what held the rest, at one moment (page_inspection.h).
//
// "rss" has the parts of the highest RSS of which they were measured (core/snapshot/memory_record.h);
// the program's "rss_peak_bytes" may be higher. A part may be negative, and one of no bytes is left
// out.
//
// "running" has the part of the leaks, by the node where they are, of threads that still ran at the end.
//
// "history" has the live figures of a node itself at the moments, as differences from the moment
// before: the figure at moment m is the sum of the differences up to m. "selected" says that the
// figures called peak are what was live at that time.
std::string PageData(const Profile& profile, const PageOptions& options);

std::string MakePage(const Profile& profile, const PageOptions& options);

// The same page for a server: it may ask where it came from, listens to the events there, and fetches
// its data anew when there is more (cli/serve/routes.h).
std::string MakeLivePage(const Profile& profile, const PageOptions& options);

}  // namespace memprof
