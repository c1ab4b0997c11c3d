// Memory of the tracker's own, from mmap: never from the host's heap.
//
// Thread safety: all functions may be called by any thread, also in a signal handler.
// Failure: nullptr or false when the system gives no memory, or may not be asked for it
// (system_calls.h); the caller stops growing.
// Memory: reserved ranges cost address space only. What is committed is populated at once, off the
// event path, and added to PrivateBytes(). Nothing is dumped into core files, but for
// what is mapped once the host filters its system calls.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace memprof {

inline constexpr size_t kHugePage = 2 * 1024 * 1024;

// Address space without memory; from a multiple of kHugePage if it is that large.
void* ReserveMemory(size_t bytes);

// Makes [start, start + bytes) of a reserved range usable: zeroed, resident, in a huge page if it
// is one. Idempotent; a range that is committed twice is counted twice, so callers commit in
// disjoint steps.
bool CommitMemory(void* start, size_t bytes);

// A zeroed range that becomes resident as it is touched; the owner reports what it touched.
void* MapMemory(size_t bytes);
void UnmapMemory(void* start, size_t bytes);

// From now on all of it comes from one reserved range, so that GiveRangeBack gives back every byte.
// What is unmapped before isn't used again: the range is to be large. Pre: nothing is mapped yet.
bool TakeMemoryOfOneRange(size_t bytes);
// Pre: nobody uses any of it.
void GiveRangeBack();

// Makes this library itself resident, so that no event waits for a page of it, and counts it.
void PopulateOwnImage();

void CountPrivateBytes(int64_t delta);
uint64_t PrivateBytes();
// From now on the sum is kept in `target` too.
void PublishPrivateBytes(std::atomic<uint64_t>* target);

// How much address space one table may reserve: a share of RLIMIT_AS, at most `wanted`.
size_t AddressSpaceShare(size_t wanted);
// Likewise one of MapMemory: of RLIMIT_DATA too, which counts what may be written.
size_t DataShare(size_t wanted);
// Likewise of a region, by all limits on memory (RLIMIT_AS; RLIMIT_DATA, which the tables beside
// the region count against).
uint64_t RegionShare(uint64_t wanted);

}  // namespace memprof
