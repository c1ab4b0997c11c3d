// ThreadSlot: the part of the tables that one thread counts into. SlotTable: which thread has which
// slot.
//
// A slot's cells (in the region) never move and outlive its thread: the next thread that takes the
// slot goes on counting in them. So the number of slots is the largest number of threads that were
// alive at once; 100,000 short threads use a few.
//
//   slot 1  owner tid 4711 ─ chunks 3, 9 ─ cells (site 0) (site 5) (site 8) …
//   slot 2  owner –        ─ chunk 4     ─ cells …            waits for the next thread
//
// Ownership: only the thread that owns a slot touches the slot and its cells.
// Thread safety: SlotTable is lock-free; Acquire and Release may be called by any thread.
// Failure: Acquire returns nullptr above kMaxSlots simultaneous threads or without memory: the
// thread then counts into the shared cells (shared_cells.h). A search goes through every slot, so a
// thread that gets none lets kAcquireAgainAfter events pass before it asks again.
// Memory order: Release stores the owner with release, Acquire takes it with acquire, so the new
// owner sees the cells as the old one left them.
#pragma once

#include <atomic>
#include <cstdint>

#include "aggregator/basics/region.h"
#include "aggregator/python/python_stack.h"
#include "aggregator/tables/last_allocations.h"
#include "aggregator/tables/peak_tracker.h"
#include "aggregator/tables/recent_stacks.h"
#include "aggregator/unwind/stack_capture.h"
#include "aggregator/unwind/verified_stacks.h"

namespace memprof {

inline constexpr uint32_t kAcquireAgainAfter = 4096;

struct ThreadSlot {
  StackMemory stack;
  RecentStacks recent;
  VerifiedStacks* verified;            // nullptr: no stack was repeated yet, or there is no room
  uint32_t number;                     // its place in the SlotTable and in the region's kSlots
  std::atomic<uint32_t> owner;         // tid; 0: free
  std::atomic<uint32_t> name_changed;  // set by the thread that renames this one
  std::atomic<uint32_t> taken;         // how often it was taken: distinguishes its owners
  uint32_t thread_name;                // id in the region
  int64_t pending;                     // bytes held back from the peak (PeakTracker::KeepBack)
  PeakShare peak;                      // its part of the account of the same number
  uint32_t chunk_plus_one;             // the newest of the slot's chunks
  uint32_t chunk_used;                 // number of cells used in it
  uint32_t index_used;
  uint32_t index_capacity;  // a power of two, or 0
  uint64_t* index;          // open addressing: site + 1 in the upper half | cell
  PythonStack* python;      // nullptr: no Python frames were read yet
  LastAllocations last;     // used while the temporary threshold is above 1

  // While scopes watch threads (events/book_event.h): the growth of the owner's blocks since some
  // moment, and its maximum. The first is written by any thread that frees.
  std::atomic<int64_t> watched_live;
  int64_t watched_peak;
};

// Memory for a slot's verified stacks, which it keeps; for the first kMaxVerified slots that ask.
inline constexpr uint32_t kMaxVerified = 40;
VerifiedStacks* NewVerifiedStacks();

// Grows the stacks, or leaves them as they are: all slots together may grow by this many bytes.
inline constexpr size_t kMaxVerifiedGrowth = 3u << 20;
void GrowVerifiedStacks(VerifiedStacks& stacks);

class SlotTable {
 public:
  // Acquire returns a slot for the calling thread `tid`, with nothing remembered of its stack.
  ThreadSlot* Acquire(uint32_t tid);
  void Release(ThreadSlot* slot);

  // Makes the owner `tid` (0: every owner) read its name again at its next allocation.
  void MarkRenamed(uint32_t tid);

  // In a forked child: the other threads are gone, and no slot has cells any more. Returns what
  // they held back from the peak, together. `own` is the calling thread's; may be nullptr.
  int64_t ForgetThreads(ThreadSlot* own);

  // The largest number of threads that had a slot at the same time.
  uint32_t count() const { return count_.load(); }

 private:
  ThreadSlot* TakeFree(uint32_t tid);
  ThreadSlot* Create(uint32_t tid);
  ThreadSlot* TakeFromDead(uint32_t tid);

  std::atomic<ThreadSlot*> slots_[kMaxSlots] = {};
  std::atomic<uint32_t> next_asked_{0};  // where TakeFromDead continues
  std::atomic<uint32_t> count_{0};
};

inline constexpr uint32_t kNoCell = 0xffffffffu;

inline Cell& CellAt(const Region& region, uint32_t id) { return region.cells()[id]; }

// The site of a cell of any thread, without touching the cell.
inline uint32_t SiteOfCell(const Region& region, uint32_t id) {
  return region.details()[id].site_plus_one.load(std::memory_order_relaxed) - 1;
}

// SlotCells: the cell of a site in a slot, and the slot of a cell.
//
// Thread safety: Find is for the slot's owner; Owns for any thread.
// Memory: 8 bytes a chunk and, in the slot, 16 to 32 a cell.
class SlotCells {
 public:
  constexpr explicit SlotCells(const Region& region) : region_(region) {}

  // Pre: the region is attached. False: no memory.
  bool Init();

  // Pre: the region is another one, and no slot has a cell (SlotTable::ForgetThreads). False: no
  // memory.
  bool Restart();

  // The cell of `site` in the slot; a new one is taken if there is none. kNoCell: the region has no
  // room, or there is no memory.
  uint32_t Find(ThreadSlot& slot, uint32_t site);

  // The owner was taken out of the middle of some work with its slot: repairs the cells, so that
  // they can be used. The interrupted event may be booked in part.
  void Mend(ThreadSlot& slot);

  bool Owns(const ThreadSlot& slot, uint32_t cell) const { return Owner(cell) == &slot; }
  // nullptr: it is a shared cell.
  ThreadSlot* Owner(uint32_t cell) const {
    return owners_[cell / kCellsPerChunk].load(std::memory_order_relaxed);
  }

  // The sums of what was allocated and freed in the slot, in bytes and blocks. For its owner.
  struct Sums {
    uint64_t allocated_bytes, allocated_count, freed_bytes;
  };
  Sums SumOf(const ThreadSlot& slot) const;

 private:
  uint32_t New(ThreadSlot& slot, uint32_t site);

  const Region& region_;
  std::atomic<ThreadSlot*>* owners_ = nullptr;  // by chunk; nullptr: shared or not taken
  uint64_t owners_bytes_ = 0;
};

}  // namespace memprof
