// MappingQueue: collects the events of all threads for the book, which one thread at a time writes.
//
// A thread that has an event enters it and then tries to get the right to book. If it gets the
// right, it books all entered events, its own and the others'. If not, it goes on at once: the
// thread with the right will book its event, and looks again after giving up the right.
//
// Thread safety: any thread, also a signal handler that interrupts any function here. No thread
// waits for another.
// Signals: the thread with the right blocks all signals, so that no handler leaves it by
// siglongjmp. If the program filters its system calls, signals can't be blocked. A handler that
// leaves then keeps the right forever: nothing is booked any more, and events are lost when the
// entries are used up.
// Order: events are booked in the order in which they were entered, each during its hook's call.
// Two events that threads enter at the same time may be booked in either order (mapping_event.h).
// Memory order: an event is complete before the release that enters it; the right is acquired and
// released. Entering and looking for the right are sequentially consistent, and so are giving it up
// and looking for events: one of the two threads sees the other.
// Memory: mapped at the start, resident as far as it is used. Failure: lost events are counted.
#pragma once

#include <atomic>
#include <cstdint>

#include "aggregator/mappings/mapping_book.h"
#include "aggregator/mappings/mapping_event.h"

namespace memprof {

class MappingQueue {
 public:
  constexpr MappingQueue(const Region& region, MappingBook& book) : region_(region), book_(book) {}

  // False: no memory. Without it every event is lost.
  bool Init();

  void Enter(const MappingEvent& event);

  // Forgets the entered events. Pre: there is one thread, the book was restarted.
  void Restart();

  // The stamp of this moment; later stamps are higher.
  uint64_t Stamp() { return stamps_.fetch_add(1, std::memory_order_seq_cst) + 1; }

 private:
  static constexpr size_t kMostSlots = 1 << 16;
  struct Slot {
    std::atomic<uint32_t> next_plus_one;  // next free slot, or next entered one
    MappingEvent event;
  };

  Slot* TakeSlot();
  void GiveSlot(Slot* slot);
  void BookAll();
  void NoteTouched(uint32_t slot);
  uint32_t IndexOf(const Slot* slot) const { return static_cast<uint32_t>(slot - slots_); }

  const Region& region_;
  MappingBook& book_;
  Slot* slots_ = nullptr;
  uint32_t slot_count_ = 0;
  void* index_ = nullptr;   // the book's memory, reserved
  bool has_index_ = false;  // changed only with the right
  std::atomic<uint64_t> stamps_{0};
  std::atomic<uint32_t> fresh_{0};             // slots that were ever taken
  uint32_t touched_ = 0;                       // how many of those before the last Restart
  std::atomic<uint64_t> free_{0};              // first free slot + 1 : 32 | changes : 32
  std::atomic<uint32_t> entered_plus_one_{0};  // the newest event
  std::atomic<uint32_t> booking_{0};           // 1: a thread has the right
};

}  // namespace memprof
