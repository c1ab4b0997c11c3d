// ProcessTables: the tables of this process in which events are counted.
//
// Constant-initialised and without destructors: usable before our constructor and after exit.
// Thread safety: that of each table.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "aggregator/basics/region.h"
#include "aggregator/tables/live_map.h"
#include "aggregator/tables/module_table.h"
#include "aggregator/tables/python_codes.h"
#include "aggregator/tables/segments.h"
#include "aggregator/tables/shared_cells.h"
#include "aggregator/tables/stack_table.h"
#include "aggregator/tables/thread_slot.h"

namespace memprof {

extern constinit Region process_region;
inline RegionHeader& CurrentRegion() { return process_region.header(); }
// The memory of the process's first region; base is nullptr if there was none. In a forked child it
// is its parent's.
extern constinit MappedRegion mapped_region;

extern constinit ModuleTable modules;
extern constinit StackTable stacks;
extern constinit PythonCodes python_codes;
extern constinit LiveMap live;
extern constinit SlotTable slots;
extern constinit SlotCells slot_cells;
extern constinit Segments segments;
extern pthread_key_t exit_key;  // its destructor releases a thread's slot

extern constinit uint32_t temporary_threshold;  // TrackerOptions'

inline void Count(std::atomic<uint64_t>& counter, uint64_t amount = 1) {
  counter.fetch_add(amount, std::memory_order_relaxed);
}

}  // namespace memprof
