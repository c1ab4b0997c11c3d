#include "aggregator/events/inherited_heap.h"

#include "aggregator/events/book_event.h"
#include "aggregator/events/event_cell.h"
#include "aggregator/events/order.h"
#include "aggregator/events/pool_events.h"
#include "aggregator/events/sampler.h"
#include "aggregator/events/thread_scope.h"
#include "aggregator/state/process_tables.h"
#include "aggregator/tables/inherited_blocks.h"

namespace memprof {

constinit uint32_t fork_generation = 1;

namespace {

constinit InheritedBlocks inherited;
constinit InheritedBlocks inherited_of_pools;
constinit uint32_t inherited_site = 0;

// Books in the row [inherited at fork]: only bytes, because the number of blocks isn't known.
[[gnu::noinline, gnu::cold]] void BookInheritedRow(ThreadSlot* slot, uint64_t added,
                                                   uint64_t removed) {
  RegionHeader& header = process_region.header();
  const Where where = CellOfSite(slot, inherited_site);
  const uint64_t epoch = RecordPeak(slot, added, removed);
  Cell& cell = CellAt(process_region, where.cell());
  if (where.own()) {
    BookBytes(cell, epoch, added, removed);
    return;
  }
  BookShared(cell, epoch, {.allocated_bytes = added, .freed_bytes = removed});
  Count(header.shared_bytes, added + removed);
}

}  // namespace

void InheritBlocks() {
  inherited.Push(live);
  RestartPools(inherited_of_pools);
}

void MakeInheritedRow() { inherited_site = stacks.NewRow(kPcInherited); }

void BookInheritedHeap(uint64_t bytes) {
  const TrackerScope scope;
  BookInheritedRow(SlotOf(scope), bytes, 0);
}

const InheritedBlocks& Inherited() { return inherited; }

bool ForgotInherited() { return inherited.forgot() || inherited_of_pools.forgot(); }

bool TakeInherited(uintptr_t address, Block* block) { return inherited.Take(address, block); }
bool PutBackInherited(uintptr_t address, const Block& block) {
  return inherited.PutBack(address, block);
}

void BookInheritedFree(ThreadSlot* slot, uint64_t kept_size) {
  if (ForkedMeanwhile()) return;
  BookInheritedRow(slot, 0, Sampling() ? WeightOfKept(kept_size).bytes : kept_size);
}
void BookInheritedFree(uint64_t kept_size) {
  const TrackerScope scope;
  BookInheritedFree(SlotOf(scope), kept_size);
}

bool FreeInherited(ThreadSlot* slot, uintptr_t address) {
  Block block;
  if (inherited.empty() || !inherited.Take(address, &block)) return false;
  BookInheritedFree(slot, block.size);
  return true;
}

bool FreeInheritedOfPool(ThreadSlot* slot, uintptr_t address) {
  Block block;
  if (inherited_of_pools.empty() || !inherited_of_pools.Take(address, &block)) return false;
  BookInheritedFree(slot, block.size);
  return true;
}

}  // namespace memprof
