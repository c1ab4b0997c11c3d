// A forked child begins to count: into a region of its own, from zero.
//
//   fork           the page that says "this process counts" is wiped by the kernel
//   first event    finds that, and starts: claims a slot, and begins all tables anew
//
// All tables are private copies in which the parent's other threads, which do not exist here, may
// have left anything half done. None is waited for or mended: the live map is kept for what was
// inherited, which asks nothing of whoever was in the middle of it (InheritedBlocks); all others
// begin again with memory of their own, and what they had is given back. What the unwinder knows
// stays: each of its entries is valid by itself.
//
// Invariant: nothing of the parent's region is touched, nor of any table as it was, once
// `fork_generation` has moved. So a child starts only where no thread is within the tracker: one
// that a signal handler interrupted, which forked, goes on in the child with what it has at hand,
// and is left to end first, in a private copy of the parent's region. Threads that the child made
// since are in no table yet, and any of them may be the first to count; whether the forking thread
// was within the tracker, fork() notes. A child that was made without fork() (clone, _Fork) has no
// such note: there the forking thread alone starts, and what others did before is dropped, and
// counted so. What is carried from one call of the tracker to the next has the generation with it
// (ClaimedBlock).
//
// The parent's region may be gone, and its slot another's, when the child starts: what the child
// needs of it is kept in memory of its own.
//
// The child's starting heap is one number, the row [inherited at fork]: the ordering word as fork()
// was called, with what threads kept back from it. A child that was made without fork() (clone,
// _Fork) takes the parent's at its own first event.
#pragma once

#include <cstddef>
#include <cstdint>

#include "aggregator/tables/live_map.h"
#include "core/protocol/region_layout.h"

namespace memprof {

struct ThreadSlot;

// How often this process' ancestors forked before it, plus 1.
extern constinit uint32_t fork_generation;

// Once, before the process counts. `wiped`: where fork() leaves a note for the child,
// kForkNoteBytes of zeroed memory which the kernel wipes in every child, so that nobody takes an
// earlier note for its own.
inline constexpr size_t kForkNoteBytes = 64;
void PrepareForForks(void* wiped, const TrackerOptions& options);

// By the process that may fork, once, outside of any event: fork() is to be noticed.
void WatchForks();

// In a forked child, by a thread that is in no hook: whether it may start now.
bool MayStartCountingInChild();

// … and by one thread, where it may. False: the child can't count; nothing is changed but where
// memory was lacking, and then nothing may be counted any more.
bool StartCountingInChild();

// An event of a forked child that came before it counts, and while it may still come to that.
void DropEventBeforeStart();
// The child counts now: what was dropped before is in its region.
void BookDroppedBeforeStart();

// --- blocks of before the fork -------------------------------------------------------------------

// `slot`: the calling thread's, as TrackerScope gives it; nullptr: it has none.

// True: `address` was one; the free is booked.
bool FreeInherited(ThreadSlot* slot, uintptr_t address);
// … of a pool.
bool FreeInheritedOfPool(ThreadSlot* slot, uintptr_t address);
// Not booked yet: BookInheritedFree does.
bool TakeInherited(uintptr_t address, Block* block);
bool PutBackInherited(uintptr_t address, const Block& block);
// `kept_size`: as the live map has it.
void BookInheritedFree(ThreadSlot* slot, uint64_t kept_size);
void BookInheritedFree(uint64_t kept_size);  // outside of a TrackerScope

// Whether blocks of before so many forks are forgotten: then the free of an unknown one is counted as
// dropped, since the row [inherited at fork] may still have it.
bool ForgotInherited();

// pool_events.cc: what the map of pools had goes to `inherited`.
class InheritedBlocks;
void RestartPools(InheritedBlocks& inherited);

}  // namespace memprof
