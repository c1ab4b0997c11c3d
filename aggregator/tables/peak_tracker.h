// PeakTracker: orders all events of the process in one 16-byte word and so knows the exact peak.
//
//   event            current      peak       armed  epoch
//   new maximum      moves        = current  1      stays
//   any other        moves        stays      0      +1 if armed was 1
//   mark             stays        = current  0      +1
//
// (A mark ends a segment, and its peak: segments.h.)
//
// An event that touches a cell first copies the cell's live figures to peak_* if the cell's epoch
// is another than the event's. Then peak_* is what the cell had when the epoch began, which is the
// moment of the maximum. A cell that was not touched since still has those figures as its live
// ones. Hence the rows of the peak:
//
//   armed: live            not armed: cell.epoch == epoch ? peak_* : live
//
// Example: A+100 → {100, 100, armed, e0}; A−100 → {0, 100, –, e1}, A.peak = 100; B+150 → {150, 150,
// armed, e1}; read: armed, so A = 0, B = 150. Without `armed` A's row would still be 100.
//
// An event that changes nothing (malloc(0), a realloc to the same size) at the maximum also ends
// it, so that the counts are those of the first moment of the maximum.
//
// With several threads the word would go from core to core at every event. So a thread may hold
// back its changes (KeepBack) up to `slack`, a small part of the peak. The peak's error is then at
// most the sum of what all threads may hold back, which the region states. If the slack would be
// less than a block (small heaps), it is 0, and so is the error.
//
//   slack(peak, threads) = peak / 2^(13 + ⌈log2 threads⌉), rounded down; at most 3.5 GiB, 0 if
//                          below 512 bytes
//   held back in all    ≤ peak / 2^13 · (1 + ⌈log2 threads⌉ / 2): the k-th thread came when there
//                         were k, and may have been idle since                    ≤ 0.073 % of peak
//
// Thread safety: any thread; lock-free. Events of one thread are ordered as they happened, so a
// cell with one writer sees its epochs rise.
// Invariant: armed implies current == peak.
// Memory order: the word is changed by a cmpxchg16b, locked (a full barrier) unless there is one
// thread; readers of cells tolerate an event that is in the word and not yet in its cell (one a
// thread).
#pragma once

#include <cstdint>

#include "aggregator/basics/atomics.h"
#include "core/protocol/region_layout.h"

namespace memprof {

inline constexpr unsigned CeilLog2(uint32_t threads) {
  unsigned bits = 0;
  for (uint32_t t = 1; t < threads; t *= 2) ++bits;
  return bits;
}

// How much each of `threads` threads may hold back at a peak of `peak` bytes.
inline constexpr uint32_t PeakSlack(uint64_t peak, uint32_t threads) {
  constexpr uint64_t kLeast = 512;  // less saves nothing: most events would not fit
  constexpr uint64_t kMost = uint64_t{7} << 29;
  const uint64_t slack = peak >> (13 + CeilLog2(threads));
  if (slack < kLeast) return 0;
  if (slack >= kMost) return kMost;
  // Keeps only the three leading bits, so that it doesn't change while a heap grows a little.
  const int low_bits = 61 - __builtin_clzll(slack);
  return static_cast<uint32_t>(slack >> low_bits << low_bits);
}

// How much all of them may hold back together.
inline constexpr uint64_t PeakSlackBound(uint64_t peak, uint32_t threads) {
  if (PeakSlack(peak, 1) == 0) return 0;
  return (peak >> 14) * (2 + CeilLog2(threads));
}

// The state after a mark. The epoch moves, so peak_* of the next touched cell is its figure at the
// mark. That is the new segment's maximum until there is a higher one.
inline constexpr PeakState Marked(PeakState state) {
  state.peak = state.current > 0 ? static_cast<uint64_t>(state.current) : 0;
  state.armed = false;
  ++state.epoch;
  return state;
}

// The state after an event that adds `added` and takes away `removed` bytes in one step.
inline constexpr PeakState Apply(PeakState state, uint64_t added, uint64_t removed) {
  state.current += static_cast<int64_t>(added - removed);
  if (added > removed && state.current > static_cast<int64_t>(state.peak)) {
    state.peak = static_cast<uint64_t>(state.current);
    state.armed = true;
  } else if (state.armed) {
    state.armed = false;
    ++state.epoch;
  }
  return state;
}

class PeakTracker {
 public:
  // `word` is in the region's header.
  explicit PeakTracker(PackedPeak* word) : word_(word) {}

  // Enters one event and returns the epoch for its cells.
  [[gnu::always_inline]] uint64_t Record(uint64_t added, uint64_t removed) {
    if (__builtin_expect(!OneThread(), 0)) return RecordOrdered(word_, added, removed);
    // Usually only the current bytes change: they are the low bits of the low half.
    PackedPeak seen = LoadUnordered();
    const uint64_t low = seen.low + added - removed;
    const auto current = static_cast<int64_t>(low & kPeakMaxBytes) - kPeakBias;
    const PeakState state = Unpack(seen);
    if (__builtin_expect(state.armed || current > static_cast<int64_t>(state.peak), 0) ||
        !CompareExchangeAlone(word_->low, seen.low, low)) {
      return RecordOrdered(word_, added, removed);
    }
    return state.epoch;
  }

  // Holds the event back in `pending`, which belongs to the calling thread, if the total is then at
  // most `slack` in either direction, and sets the event's epoch. False: enter the event instead.
  //
  // While armed only increases are held back: the live figures then stay the rows of a new maximum.
  // The first decrease of any thread ends the maximum, as it must, before it is booked.
  [[gnu::always_inline]] bool KeepBack(int64_t& pending, uint64_t slack, uint64_t added,
                                       uint64_t removed, uint64_t& epoch) {
    const int64_t sum = Sum(pending, added, removed);
    if (Size(sum) > slack || slack == 0) return false;
    const PackedPeak seen = LoadUnordered();
    const PeakState state = Unpack(seen);
    if (state.armed && added <= removed) return false;
    // The value is torn unless `low` is the same before and after reading `high`.
    if (__atomic_load_n(&word_->low, __ATOMIC_RELAXED) != seen.low) return false;
    pending = sum;
    epoch = state.epoch;
    return true;
  }

  // Gets the word's line for writing, for an event that will be entered: one step instead of two.
  void Fetch() const { __asm__ volatile("prefetchw %0" : : "m"(*word_)); }

  // Enters what was held back, and the event. Returns its epoch.
  uint64_t RecordWithKept(int64_t& pending, uint64_t added, uint64_t removed) {
    const int64_t before = pending;
    const int64_t sum = Sum(before, added, removed);
    pending = 0;
    if (before > 0 && added <= removed) {
      Record(static_cast<uint64_t>(before), 0);
      return Record(added, removed);
    }
    return sum < 0 ? Record(0, Size(sum)) : Record(Size(sum), 0);
  }

  int64_t Current() const { return Unpack(LoadUnordered()).current; }
  uint64_t Peak() const { return Unpack(LoadUnordered()).peak; }

  // The state at one moment.
  PeakState Load() {
    PackedPeak seen = LoadUnordered();
    while (!CompareExchange(seen, seen)) {
    }
    return Unpack(seen);
  }

  // Ends the current maximum, as an event that changes nothing would: its rows stay until a higher
  // one comes. `state` gets the word's new state.
  void Disarm(PeakState& state) {
    PackedPeak seen = Pack(state);
    while (state.armed) {
      const PeakState next = Apply(state, 0, 0);
      const bool done = CompareExchange(seen, Pack(next));
      state = done ? next : Unpack(seen);
    }
  }

  // Ends the segment if only the current bytes differ from `expected`. False: there was a new
  // maximum or it was ended. `before` gets the state before.
  bool EndSegment(const PeakState& expected, PeakState& before) {
    PackedPeak seen = LoadUnordered();
    for (;;) {
      before = Unpack(seen);
      const bool same = before.peak == expected.peak && before.epoch == expected.epoch &&
                        before.armed == expected.armed;
      if (CompareExchange(seen, same ? Pack(Marked(before)) : seen)) return same;
    }
  }

  // Ends it in any case.
  PeakState EndSegment() {
    PackedPeak seen = LoadUnordered();
    for (;;) {
      const PeakState before = Unpack(seen);
      if (CompareExchange(seen, Pack(Marked(before)))) return before;
    }
  }

 private:
  static int64_t Sum(int64_t pending, uint64_t added, uint64_t removed) {
    return static_cast<int64_t>(static_cast<uint64_t>(pending) + added - removed);
  }
  static uint64_t Size(int64_t sum) { return static_cast<uint64_t>(sum < 0 ? -sum : sum); }

  // Static, because `this` would have to be in memory for the call.
  [[gnu::noinline]] static uint64_t RecordOrdered(PackedPeak* word, uint64_t added,
                                                  uint64_t removed) {
    PeakTracker tracker(word);
    PackedPeak seen = tracker.LoadUnordered();
    for (;;) {
      const PeakState next = Apply(Unpack(seen), added, removed);
      if (tracker.CompareExchange(seen, Pack(next))) return next.epoch;
    }
  }

  // The value may be torn: the exchange then fails and returns the real one. `low` is read first:
  // every change of `high` also changes `low` (the current bytes or the epoch), so an exchange of
  // `low` alone fails if `high` is newer.
  PackedPeak LoadUnordered() const {
    PackedPeak seen;
    seen.low = __atomic_load_n(&word_->low, __ATOMIC_ACQUIRE);
    seen.high = __atomic_load_n(&word_->high, __ATOMIC_ACQUIRE);
    return seen;
  }

  // In assembly because std::atomic of 16 bytes calls libatomic.
  bool CompareExchange(PackedPeak& expected, const PackedPeak& desired) {
    bool done;
    if (OneThread()) {
      __asm__ __volatile__("cmpxchg16b %1"
                           : "=@ccz"(done), "+m"(*word_), "+a"(expected.low), "+d"(expected.high)
                           : "b"(desired.low), "c"(desired.high)
                           : "memory");
    } else {
      __asm__ __volatile__("lock cmpxchg16b %1"
                           : "=@ccz"(done), "+m"(*word_), "+a"(expected.low), "+d"(expected.high)
                           : "b"(desired.low), "c"(desired.high)
                           : "memory");
    }
    return done;
  }

  PackedPeak* word_;
};

}  // namespace memprof
