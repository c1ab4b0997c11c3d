// HeapEvents: what a hook calls while every event is counted. Turns an event of the program's heap
// into counts in the region.
//
//   hook ─► CaptureStack ─► StackTable ─► site ─┐
//        ─► LiveMap (address → size, cell)      ├─► PeakTracker (order, epoch) ─► cell
//
// Here and in the rest of events/:
//
// Thread safety: every function may be called by any thread at any moment, also by a signal handler
// that interrupts any other of them, before our constructor ran and after our destructor.
// Failure: never. An event that can't be counted is counted as dropped; the program goes on. errno
// is preserved.
#pragma once

#include <cstddef>
#include <cstdint>

#include "aggregator/events/caller.h"
#include "aggregator/events/claimed_block.h"

namespace memprof {

struct ThreadSlot;

// `address` was allocated with `size` requested bytes.
void OnAllocated(void* address, size_t size, const Caller& caller);

// `address` is about to be freed.
void OnFree(void* address);

// The same by an operator delete. False: the block isn't known, and nothing is counted. The real
// delete may then call free for the block. If it did not, call OnUnknownDeleted with the earlier
// result of SizeOfUnknown.
bool OnDelete(void* address);
uint64_t SizeOfUnknown(const void* address);
void OnUnknownDeleted(uint64_t size);

// realloc takes three steps: claim before the real call; then exactly one of the others.
ClaimedBlock ClaimForRealloc(void* address);
void OnReallocated(const ClaimedBlock& old, void* address, size_t size, const Caller& caller);
void OnReallocFreed(const ClaimedBlock& old, void* address);   // realloc(p, 0) that freed p
void OnReallocFailed(const ClaimedBlock& old, void* address);  // the old block is unchanged

// The allocator has given out `address`. If the live map still has a block there, that block was
// freed where no hook is: by __libc_free, or by a function of the allocator's own. It is booked as
// freed now, and counted as a dropped event.
//
// Called only if the stack had to be captured, so that an event of a known stack costs nothing.
// From the first such free on it is called for every allocation.
void ForgetUnseenFree(ThreadSlot* slot, void* address);

}  // namespace memprof
