// ProcessChoice: selects the processes of a capture that a report shows instead of all: --process.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/count.h"
#include "core/result.h"
#include "core/snapshot/snapshot.h"

namespace memprof {

// A number is a pid. Every pattern, also a number, is a shell's pattern (* ? [a-z]) that is
// compared with the program's name and with the base name of its argv[0]. A process is chosen if
// one of the patterns matches; without patterns all are chosen.
struct ProcessSelector {
  std::vector<std::string> patterns;

  bool takes_all() const { return patterns.empty(); }
  bool Takes(const SnapshotProgram& program) const;
};

// The processes that were selected.
struct ChosenProcesses {
  std::string patterns;     // as written, ", " between them
  size_t shown = 0;         // processes whose figures these are
  size_t all = 0;           // all processes of the capture
  size_t without_rows = 0;  // processes that match but aren't kept apart
  size_t unknown = 0;       // the part of these from merges that don't keep figures by process
  Count without_rows_peak;  // the sum of the peaks of those without rows
  // Only the figures were taken from a merge. The parts that a merge has only for all processes
  // together (history, sizes, mappings, the trackers' memory) are left out, and caveats apply to
  // all of them.
  bool figures_only = false;
  friend bool operator==(const ChosenProcesses&, const ChosenProcesses&) = default;

  ChosenProcesses& operator+=(const ChosenProcesses& more);
};

// Leaves only the figures of the chosen processes in the snapshot. A single process is no merge. If
// all are chosen, the snapshot stays as it is. If none is chosen, or none of the chosen is kept
// apart, nothing is shown, and the snapshot must not be used afterwards.
ChosenProcesses ShowProcesses(Snapshot& snapshot, const ProcessSelector& selector);

// Removes the history, sizes, mappings and trackers' memory. Called if some of the shown processes
// have figures only (figures_only), so that these parts would describe the others alone.
void LeaveFiguresOnly(Snapshot& snapshot);

// Returns the message for a choice that shows no process although some match. Pre: none is shown,
// and some are without rows.
std::string WhyNoneIsApart(const ChosenProcesses& chosen);

// The processes of a snapshot, and these as text, by name: "cc1 (4712 4713), make (4711)". The text
// has at most 8 names and 8 pids of each, and counts the others.
std::vector<SnapshotProgram> ProcessesOf(const Snapshot& snapshot);
std::string TextOfProcesses(const std::vector<SnapshotProgram>& processes);

}  // namespace memprof
