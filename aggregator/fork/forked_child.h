// A forked child starts counting into a region of its own, from zero.
//
//   fork           the kernel wipes the page that says "this process counts"
//   first event    notices that, and starts: claims a region, and begins all tables anew
//
// All tables are private copies in which the parent's other threads, which do not exist here, may
// have left anything half done. The child neither waits for these threads nor repairs the tables.
// It keeps the live map for the inherited blocks, which needs nothing of a thread in the middle of
// it (events/inherited_heap.h). All other tables begin anew in memory of their own, and their old
// memory is given back. The unwinder's tables stay: each of their entries is valid by itself.
//
// Invariant: once `fork_generation` has moved, nothing in the parent's region is touched, nor in
// any old table. So a child starts only while no thread is within the tracker. A thread that forked
// in a signal handler that interrupted the tracker continues in the child with its old data. It is
// left to end first, in a private copy of the parent's region. Threads that the child made since
// are in no table yet, and any of them may be the first to count. fork() notes whether the forking
// thread was within the tracker. A child that was made without fork() (clone, _Fork) has no such
// note: there only the forking thread may start, and earlier events of other threads are counted as
// dropped. State that is carried from one call of the tracker to the next has its generation
// (ClaimedBlock).
//
// When the child starts, the parent's region may be gone, or another process's. So the child
// keeps what it needs of it in memory of its own.
//
// The child's starting heap is one number, the row [inherited at fork]: the ordering word as of
// fork(), plus what threads held back from it. A child that was made without fork() (clone, _Fork)
// takes the parent's word at its own first event.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/protocol/region_layout.h"

namespace memprof {

// Called once, before the process counts. `wiped` is where fork() leaves a note for the child:
// kForkNoteBytes of zeroed memory that the kernel wipes in every child, so that no child takes an
// earlier note for its own.
inline constexpr size_t kForkNoteBytes = 64;
void PrepareForForks(void* wiped, const TrackerOptions& options);

// Called once by the process that may fork, outside any event: from now on fork() is noticed.
void WatchForks();

// In a forked child, by a thread that is in no hook: true if it may start now.
bool MayStartCountingInChild();

// … and by one thread, if it may. False: the child can't count. If memory was missing, nothing may
// be counted any more; otherwise nothing is changed.
bool StartCountingInChild();

// Counts an event of a forked child that came before it counts, as long as it may still start.
void DropEventBeforeStart();
// The child counts now: adds the earlier dropped events to its region.
void BookDroppedBeforeStart();

}  // namespace memprof
