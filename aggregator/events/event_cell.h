// Chooses the cell for an event: a cell of its site, if possible in the calling thread's slot.
//
//   allocation   the stack's (verified, recent or captured and interned), in the thread's slot
//   free         that of the block's allocation; for another thread's block one of its site's
//   without      a slot (a signal handler within the tracker, too many threads): the shared cells
#pragma once

#include "aggregator/events/caller.h"
#include "aggregator/events/event_log.h"
#include "aggregator/events/heap_events.h"
#include "aggregator/state/process_tables.h"
#include "aggregator/tables/booking.h"

namespace memprof {

// A cell and whether it is shared. It is one word; its highest bit says that the cell isn't the
// thread's own.
class Where {
 public:
  static Where Own(uint32_t cell) { return Where(cell); }
  static Where Shared(uint32_t cell) { return Where(cell | kNotOwn); }

  bool own() const { return (word_ & kNotOwn) == 0; }
  uint32_t cell() const { return word_ & ~kNotOwn; }

 private:
  static constexpr uint32_t kNotOwn = 1u << 31;
  static_assert(kMaxCells < kNotOwn);

  explicit Where(uint32_t word) : word_(word) {}
  uint32_t word_;
};

// The same if it is known to be the thread's own.
class OwnCell {
 public:
  explicit OwnCell(uint32_t cell) : cell_(cell) {}
  static constexpr bool own() { return true; }
  uint32_t cell() const { return cell_; }

 private:
  uint32_t cell_;
};

// The cell in which the thread books an event of the site: there is always room
// (tables/shared_cells.h).
Where CellOfSite(ThreadSlot* slot, uint32_t site);

// The cell for a free of a block whose allocation was booked in `cell`.
[[gnu::always_inline]] inline Where CellForFree(ThreadSlot* slot, uint32_t cell) {
  if (slot != nullptr && slot_cells.Owns(*slot, cell)) return Where::Own(cell);
  return CellOfSite(slot, SiteOfCell(process_region, cell));
}

// The remembered result for a stack depends on the stack and on this tag.
inline uint8_t TagOf(const Caller& caller) { return static_cast<uint8_t>(caller.kind); }

// Call it when the thread's name has changed.
void NoteNewName(ThreadSlot& slot);
Where CellWithoutSlot(const Caller& caller, uint32_t size_class = 0);
Where CellOfCaptured(ThreadSlot& slot, const Caller& caller);

// For the event log: the stack is captured as well, and must lead to the same cell.
Where CellOfVerified(ThreadSlot& slot, const Caller& caller, uint32_t cell);

// The cell for an allocation by the caller. `address` is the block's if it is on the heap.
[[gnu::always_inline]] inline Where CellForAllocation(ThreadSlot* slot, const Caller& caller,
                                                      void* address = nullptr) {
  if (__builtin_expect(slot == nullptr, 0)) return CellWithoutSlot(caller);
  if (__builtin_expect(slot->name_changed.load(std::memory_order_relaxed) != 0, 0)) {
    NoteNewName(*slot);
  }
  if (__builtin_expect(slot->verified != nullptr, 1)) {
    const uint32_t cell = slot->verified->Find(caller.registers, TagOf(caller));
    if (__builtin_expect(cell != VerifiedStacks::kNone, 1)) {
      return kLogsEvents ? CellOfVerified(*slot, caller, cell) : Where::Own(cell);
    }
  }
  if (address != nullptr) ForgetUnseenFree(slot, address);
  return CellOfCaptured(*slot, caller);
}

// The cell for a sampled block. Samples are rare: nothing is remembered of their stacks.
Where CellForSample(ThreadSlot* slot, size_t size, const Caller& caller);

}  // namespace memprof
