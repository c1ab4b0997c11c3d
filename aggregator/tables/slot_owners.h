// Tells the region's reader which thread has a slot (SlotRecord in core/protocol/region_layout.h).
// The reader needs it after the program's end, whatever ended it: so it is kept up to date always,
// and nothing is done at exit.
//
//   a thread gets a slot          kUnknownOwner, taken + 1
//   its end will be noticed       its tid
//   it ends                       0
//   the next thread gets it       kUnknownOwner, taken + 1 …
//
// A thread that is killed or leaves by a jump between two of these steps leaves a record from which
// the reader concludes nothing.
//
// Thread safety: called by the slot's owner only, between SlotTable::Acquire and Release.
// Memory order: SlotTable's acquire and release order the owners of one slot; for the reader's see
// SlotRecord.
#pragma once

#include <atomic>
#include <cstdint>

#include "aggregator/basics/region.h"
#include "aggregator/tables/thread_slot.h"

namespace memprof {

inline SlotRecord& RecordOf(const Region& region, const ThreadSlot& slot) {
  return region.Records<SlotRecord>(Table::kSlots)[slot.number];
}

// The slot has a new owner. Pre: it has not counted anything yet.
inline void NoteTaken(const Region& region, const ThreadSlot& slot) {
  SlotRecord& record = RecordOf(region, slot);
  const uint32_t taken = record.taken.load(std::memory_order_relaxed);
  if (taken != UINT32_MAX) record.taken.store(taken + 1, std::memory_order_relaxed);
  record.owner.store(kUnknownOwner, std::memory_order_release);
}

// NoteEnded will be called when the owner ends.
inline void NoteOwner(const Region& region, const ThreadSlot& slot) {
  RecordOf(region, slot)
      .owner.store(slot.owner.load(std::memory_order_relaxed), std::memory_order_release);
}

inline void NoteEnded(const Region& region, const ThreadSlot& slot) {
  RecordOf(region, slot).owner.store(0, std::memory_order_release);
}

}  // namespace memprof
