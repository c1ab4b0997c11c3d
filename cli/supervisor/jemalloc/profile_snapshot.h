// jemalloc's own heap profile as a snapshot, whose figures are marked as estimates of its samples
// (SnapshotTracker::sample_bytes).
//
// Addresses become offsets in the files that the profile says were mapped; jemalloc's own frames,
// the innermost, are left out where its functions are known by their names, or the library by its
// own.
//
// jemalloc knows no peak. That of the snapshot is what was live when it was dumped; the program's
// own is at least that and at most what was allocated in all, which is said as its bound
// (SnapshotTracker::peak_bound_bytes). Threads are one.
//
// Thread safety: none. Failure: a file that can't be read gives offsets as if it were mapped as it
// lies in the file, and no build-id.
#pragma once

#include "core/snapshot/snapshot.h"
#include "formats/jemalloc_profile.h"

namespace memprof {

// The thread name of all its sites.
inline constexpr char kAllThreads[] = "[all threads]";

// But for the program (SnapshotProgram), of which the profile tells nothing.
Snapshot SnapshotOf(const JemallocProfile& profile);

}  // namespace memprof
