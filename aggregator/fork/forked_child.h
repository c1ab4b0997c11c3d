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
// `fork_generation` has moved. So a child starts only where the calling thread is in no hook: one
// that a signal handler interrupted, which forked, goes on in the child with what it has at hand,
// and is left to end first. What is carried from one call of the tracker to the next has the
// generation with it (ClaimedBlock).
//
// The child's starting heap is one number, the row [inherited at fork]: the ordering word as fork()
// was called, with what threads kept back from it. Of a child that was made without fork() (clone,
// _Fork) it is the parent's at the child's first event.
#pragma once

#include <cstdint>

#include "aggregator/tables/live_map.h"

namespace memprof {

struct ThreadSlot;

// How often this process' ancestors forked before it, plus 1.
extern constinit uint32_t fork_generation;

// By the process that may fork, once, outside of any event: fork() is to be noticed.
void WatchForks();

// In a forked child, by one thread, which is in no hook. False: it can't count; nothing is changed
// but where memory was lacking, and then nothing may be counted any more.
bool StartCountingInChild();

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

// pool_events.cc: what the map of pools had goes to `inherited`.
class InheritedBlocks;
void RestartPools(InheritedBlocks& inherited);

}  // namespace memprof
