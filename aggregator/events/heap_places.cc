#include "aggregator/events/heap_places.h"

#include "aggregator/events/inherited_heap.h"
#include "aggregator/events/pool_events.h"
#include "aggregator/state/process_tables.h"
#include "aggregator/state/thread_state.h"
#include "aggregator/tables/inherited_blocks.h"

namespace memprof {

void PublishHeapPlaces() {
  HeapPlaces& places = process_region.header().heap;
  const InheritedBlocks& inherited = Inherited();
  places.pool_map = reinterpret_cast<uint64_t>(&PoolBlocks());
  places.inherited_maps = reinterpret_cast<uint64_t>(inherited.maps());
  places.inherited_count = inherited.count();
  places.inherited_stride = sizeof(LiveMap);
  // The same in every thread: the variable is in the static part of thread-local storage.
  places.thread_state = reinterpret_cast<const char*>(&thread_state) -
                        static_cast<const char*>(__builtin_thread_pointer());
  places.thread_state_bytes = sizeof(ThreadState);
  places.live_map.store(reinterpret_cast<uint64_t>(&live), std::memory_order_release);
}

}  // namespace memprof
