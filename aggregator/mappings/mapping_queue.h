// MappingQueue: brings the events of all threads to the book, which one thread writes at a time.
//
// Who has an event enters it and then tries to get the right to book. Who gets it books all that
// was entered, its own and the others'; who doesn't goes on at once: its event will be booked by
// the one who has the right, and looks again after giving it up.
//
// Thread safety: any thread, also a signal handler that interrupts any function here: nobody waits.
// Who has the right has all signals blocked, so that no handler leaves it by siglongjmp; not where
// the host filters its system calls, where such a handler would end the booking: events are then
// lost when there is no more room for them.
// Order: that of entering, which lies within the call of each hook. What two threads did at the
// same time may be booked either way (mapping_event.h). Memory order: an event is complete before
// the release that enters it; the right is acquired and released. Entering and looking for the
// right, and giving it up and looking for events, are sequentially consistent, so that one of two
// sees the other. Memory: mapped at the start, resident as far as it is used. Failure: lost events
// are counted.
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

  // Forgets what was entered. Pre: there is one thread, the book was restarted.
  void Restart();

  // A stamp of this moment; later ones are higher.
  uint64_t Stamp() { return stamps_.fetch_add(1, std::memory_order_seq_cst) + 1; }

 private:
  static constexpr size_t kMostSlots = 1 << 16;
  struct Slot {
    std::atomic<uint32_t> next_plus_one;  // in the free ones, or of those entered
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
  bool has_index_ = false;  // by who has the right
  std::atomic<uint64_t> stamps_{0};
  std::atomic<uint32_t> fresh_{0};             // slots that were ever taken
  uint32_t touched_ = 0;                       // of those, before the last Restart
  std::atomic<uint64_t> free_{0};              // first free slot + 1 : 32 | changes : 32
  std::atomic<uint32_t> entered_plus_one_{0};  // the newest event
  std::atomic<uint32_t> booking_{0};           // 1: somebody has the right
};

}  // namespace memprof
