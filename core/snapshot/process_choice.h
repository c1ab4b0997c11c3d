// ProcessChoice: which processes of a capture a report is of, instead of all: --process.
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

// A number is a pid. All else, and a number too, is a shell's pattern (* ? [a-z]) that is held
// against the program's name and the base name of what it was called (argv[0]). A process is chosen
// if one of the patterns is for it; without patterns all are.
struct ProcessSelector {
  std::vector<std::string> patterns;

  bool takes_all() const { return patterns.empty(); }
  bool Takes(const SnapshotProgram& program) const;
};

// What was taken.
struct ChosenProcesses {
  std::string patterns;     // as written, ", " between them
  size_t shown = 0;         // whose figures these are
  size_t all = 0;           // that there are
  size_t without_rows = 0;  // that were asked for too, but aren't kept apart
  size_t unknown = 0;       // of these: of merges that don't know whose their figures are
  Count without_rows_peak;  // the sum of the peaks of those without rows
  // Figures were taken from a merge: what a merge has of all its processes together alone is left
  // out (history, sizes, mappings, the trackers' memory), and what is doubtful is of all of them.
  bool figures_only = false;
  friend bool operator==(const ChosenProcesses&, const ChosenProcesses&) = default;

  ChosenProcesses& operator+=(const ChosenProcesses& more);
};

// Leaves of the snapshot the figures of those that are chosen; a single one is no merge. Where that
// is all of them, it stays as it is. Nothing is shown if none is chosen, or none of those is kept
// apart; the snapshot is then to be thrown away.
ChosenProcesses ShowProcesses(Snapshot& snapshot, const ProcessSelector& selector);

// Takes out what is of some of the snapshot's processes only, where others came with nothing but
// their figures (figures_only).
void LeaveFiguresOnly(Snapshot& snapshot);

// Why nothing is shown of processes that are there. Pre: none is shown, and some are without rows.
std::string WhyNoneIsApart(const ChosenProcesses& chosen);

// "make (pid 4711)", "3 of cc1", …: those of a snapshot, by name; at most some.
std::vector<SnapshotProgram> ProcessesOf(const Snapshot& snapshot);
std::string TextOfProcesses(const std::vector<SnapshotProgram>& processes);

}  // namespace memprof
