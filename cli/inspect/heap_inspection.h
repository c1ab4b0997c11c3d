// HeapInspection: what the live blocks of a running program hold: two looks at it, each in a frozen
// copy. Only what both looks call lost is lost.
//
//   FrozenCopy ─► live blocks, roots ─► Inspect ─► (again) ─► rows with stacks
//
// Thread safety: one at a time. Failure: a sentence that says what to do; the program goes on as before.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/inspect/frozen_copy.h"
#include "cli/live/runs.h"
#include "core/snapshot/canonical_snapshot.h"

namespace memprof {

struct HeapInspection {
  ShownProcess process;  // the one that was looked at
  // Its stacks, and what was found: no site, and no figure but those.
  CanonicalSnapshot stacks;
  // The same with the numbers of the region's nodes (RegionHistory::inspection).
  SnapshotInspection found;

  // All that the run's region has now, with what was found. Failure: as ReadRegion.
  Result<CanonicalSnapshot> Capture() const;
};

struct HeapInspectionOptions {
  unsigned looks = 2;
  FrozenBy how = FrozenBy::kCopying;
  std::chrono::milliseconds between_looks{100};
  std::chrono::milliseconds longest_pause{500};  // refuse if it is expected to be longer
  std::function<void(const std::string&)> say;   // gets what is about to be done
};

// How long a look at a process is expected to stop it. 0: nothing is known.
std::chrono::milliseconds ExpectedPause(pid_t process, FrozenBy how = FrozenBy::kCopying);

Result<HeapInspection> InspectHeap(const ShownProcess& process,
                                   const HeapInspectionOptions& options);
// `pid`: the process, one of the run's; 0: the run's program.
Result<HeapInspection> InspectHeap(const FoundRun& run, pid_t pid,
                                   const HeapInspectionOptions& options);

}  // namespace memprof
