// PeakTracker: orders all events of the process in one 16-byte word and so knows the exact peak.
//
//   event            current      peak       armed  epoch
//   new maximum      moves        = current  1      stays
//   any other        moves        stays      0      +1 if armed was 1
//
// A cell that an event touches first copies its live figures to peak_* if its epoch is another than
// the event's: then peak_* is what it had when the epoch began, which is the moment of the maximum.
// A cell that was not touched since has its live figures still. Hence the rows of the peak:
//
//   armed: live            not armed: cell.epoch == epoch ? peak_* : live
//
// Example: A+100 → {100, 100, armed, e0}; A−100 → {0, 100, –, e1}, A.peak = 100; B+150 → {150, 150,
// armed, e1}; read: armed, so A = 0, B = 150. Without `armed` A's row would still be 100.
//
// An event that changes nothing (malloc(0), a realloc to the same size) at the maximum also ends
// it, so that the counts are those of the first moment of the maximum.
//
// Thread safety: any thread; lock-free. Events of one thread are ordered as they happened, so a
// cell with one writer sees its epochs rise. Invariant: armed implies current == peak. Memory
// order: the word is changed by a locked cmpxchg16b, a full barrier; readers of cells tolerate an
// event that is in the word and not yet in its cell (one a thread).
#pragma once

#include <cstdint>

#include "core/region_layout.h"

namespace memprof {

// The state after an event that adds `added` and takes away `removed` bytes as one step.
inline constexpr PeakState Apply(PeakState state, uint64_t added, uint64_t removed) {
  state.current += added;
  state.current -= removed;
  if (added > removed && state.current > state.peak) {
    state.peak = state.current;
    state.armed = true;
  } else if (state.armed) {
    state.armed = false;
    ++state.epoch;
  }
  return state;
}

class PeakTracker {
 public:
  // `word` lies in the region's header.
  explicit PeakTracker(PackedPeak* word) : word_(word) {}

  // Enters one event and returns the epoch that its cells belong to.
  uint64_t Record(uint64_t added, uint64_t removed) {
    PackedPeak seen = LoadUnordered();
    for (;;) {
      const PeakState next = Apply(Unpack(seen), added, removed);
      if (CompareExchange(seen, Pack(next))) return next.epoch;
    }
  }

 private:
  // May be torn: the exchange then fails and gives what was there.
  PackedPeak LoadUnordered() const {
    return {__atomic_load_n(&word_->low, __ATOMIC_RELAXED),
            __atomic_load_n(&word_->high, __ATOMIC_RELAXED)};
  }

  // In assembly because std::atomic of 16 bytes calls libatomic.
  bool CompareExchange(PackedPeak& expected, const PackedPeak& desired) {
    bool done;
    __asm__ __volatile__("lock cmpxchg16b %1"
                         : "=@ccz"(done), "+m"(*word_), "+a"(expected.low), "+d"(expected.high)
                         : "b"(desired.low), "c"(desired.high)
                         : "memory");
    return done;
  }

  PackedPeak* word_;
};

}  // namespace memprof
