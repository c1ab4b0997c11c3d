// The tracker's own memory, from mmap: never from the program's heap.
//
// Thread safety: all functions may be called by any thread, also in a signal handler.
// Failure: nullptr or false if the system gives no memory, or may not be asked for it
// (system_calls.h); the caller stops growing.
// Memory: reserved ranges take only address space. Committed memory is populated at once, off the
// event path, and added to PrivateBytes(). None of it is dumped into core files, except what is
// mapped after the program has filtered its system calls.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace memprof {

inline constexpr size_t kHugePage = 2 * 1024 * 1024;

// Address space without memory; aligned to kHugePage if it is that large.
void* ReserveMemory(size_t bytes);

// Makes [start, start + bytes) of a reserved range usable: zeroed, resident, in a huge page if it
// is one. Idempotent. A range that is committed twice is counted twice, so callers commit disjoint
// ranges.
bool CommitMemory(void* start, size_t bytes);

// A zeroed range that becomes resident as it is touched; the owner reports the touched bytes.
void* MapMemory(size_t bytes);
void UnmapMemory(void* start, size_t bytes);

// From now on all memory comes from one reserved range, so that GiveRangeBack returns every byte.
// Memory that is unmapped before isn't reused, so the range has to be large. Pre: nothing is mapped
// yet.
bool TakeMemoryOfOneRange(size_t bytes);
bool IsInRange(uintptr_t address);
// Pre: nobody uses any of it.
void GiveRangeBack();

// The program has called mlockall(MCL_FUTURE): the kernel makes a new mapping resident at once. From
// now on memory is mapped so that it is locked as it is touched.
void NoteLockedMappings();
// Whether the kernel does so, found by mapping a page.
bool MappingsAreLocked();
// As kernel::Map, but no page is resident before it is touched, also if the program locks its
// memory.
void* MapUntouched(void* address, size_t bytes, int protection, int flags, int fd = -1);

// Makes this library itself resident, so that no event waits for a page of it, and counts it.
void PopulateOwnImage();

void CountPrivateBytes(int64_t delta);
uint64_t PrivateBytes();
// From now on the sum is also stored in `target`.
void PublishPrivateBytes(std::atomic<uint64_t>* target);

// How much address space one table may reserve: a share of RLIMIT_AS, at most `wanted`.
size_t AddressSpaceShare(size_t wanted);
// Likewise for MapMemory: also a share of RLIMIT_DATA, which counts writable memory.
size_t DataShare(size_t wanted);
// Likewise for a region: a share of all limits on memory (RLIMIT_AS; RLIMIT_DATA, which the tables
// beside the region count against).
uint64_t RegionShare(uint64_t wanted);

}  // namespace memprof
