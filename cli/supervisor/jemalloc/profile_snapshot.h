// Converts jemalloc's own heap profile to a snapshot. Its figures are marked as estimates by
// sampling (SnapshotTracker::sample_bytes).
//
// Addresses become offsets in the files that the profile lists as mapped. jemalloc's own frames,
// the innermost ones, are left out if its functions are known by name, or if jemalloc is a library
// of its own.
//
// jemalloc records no peak. The snapshot's peak is what was live at the dump. The program's real
// peak is at least that, and at most what was allocated in all; the difference is the bound
// (SnapshotTracker::peak_bound_bytes). All threads are one.
//
// Thread safety: none. Failure: if a file can't be read, offsets are computed as if it were mapped
// the way it lies in the file, and it has no build-id.
#pragma once

#include "core/snapshot/snapshot.h"
#include "formats/jemalloc_profile.h"

namespace memprof {

// The thread name of all its sites.
inline constexpr char kAllThreads[] = "[all threads]";

// Without the program (SnapshotProgram), about which the profile says nothing.
Snapshot SnapshotOf(const JemallocProfile& profile);

}  // namespace memprof
