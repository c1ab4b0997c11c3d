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
// **Far below the peak** no event needs an order at all: as long as the heap can't reach its peak,
// there is no maximum, and the epoch stands still. So the word becomes *far*: instead of `current`
// it names a generation, and each thread counts in an account of its own (peak_accounts.h), on a
// cache line that nobody else writes.
//
//   word    near {current 400, peak 1000} ─► far {generation g, peak 1000} ─► near {current 640, …}
//   g                                        base 400, pool 600
//   pool                                     600 ─► 350 ─► 225              permissions are taken
//   account of thread 1                      sum +90, at most 250
//   account of thread 2                      sum +80, −10, at most 125      … = 400 + 90 + 150
//
// The sum of an account is what happened. Its limit is only a permission, a part of the distance to
// the peak that the thread took from the generation's pool. A permission that is never used, as the
// thread sleeps, costs speed and nothing else. If the pool has too little left for an event, or for
// a mark, the generation is closed: every account is closed, by whichever thread, and then one
// exchange of the word replaces the generation by base + Σ sums, with the event applied. That may
// be a new generation at once. ARCHITECTURE.md has the proof that nothing is lost. In short:
//
//   1. An account is open in g only while the word is far(g): the word leaves g only after all of
//      g's accounts are closed, and a closed account opens only in a later generation. So the
//      exchanges of accounts and of the word are one order of all events.
//   2. Σ limits + pool ≤ peak − base, and each sum ≤ its limit. So current ≤ peak throughout g.
//   3. A closed account doesn't change. So when the word leaves g, current = base + Σ sums.
//
// The order of loads matters: a thread loads its account before the word, and looks at the word
// again after reading what the generation's opener wrote, and before closing an account. Otherwise
// it would overwrite an account that has moved on to a later generation.
//
// When the closer had entered few events in its account, generations don't pay: the word then
// stays near for a while, which doubles each time (PeakPolicy).
//
// Thread safety: any thread; lock-free: nobody waits for the thread that opened or began to close a
// generation. Events of one thread are ordered as they happened, so a cell with one writer sees its
// epochs rise. A signal handler that interrupts its thread's event enters its own events without
// the slot, in the shared account.
// Invariant: armed implies current == peak, and near.
// Memory order: the word is changed by a cmpxchg16b, locked (a full barrier) unless there is one
// thread; accounts and pools by compare-exchanges that acquire and release; all of these are loaded
// with acquire. Readers of cells tolerate an event that is in the word or in an account and not yet
// in its cell (one a thread).
// Limit: a tag comes again after 2^20 generations of one slot. A thread would have to be stopped
// between two instructions meanwhile, and to find an account with the very same word.
#pragma once

#include <atomic>
#include <cstdint>

#include "aggregator/basics/atomics.h"
#include "aggregator/basics/region.h"
#include "core/protocol/peak_reading.h"
#include "core/protocol/region_layout.h"

namespace memprof {

// No sum of an account gets larger, in either direction.
inline constexpr int64_t kMostInAccount = int64_t{1} << 30;

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
// mark. That is the new segment's maximum until there is a higher one. Pre: `state` is near.
inline constexpr PeakState Marked(PeakState state) {
  state.peak = state.current > 0 ? static_cast<uint64_t>(state.current) : 0;
  state.armed = false;
  state.epoch = NextEpoch(state.epoch);
  return state;
}

// The state after an event that adds `added` and takes away `removed` bytes in one step. Pre:
// `state` is near.
inline constexpr PeakState Apply(PeakState state, uint64_t added, uint64_t removed) {
  state.current += static_cast<int64_t>(added - removed);
  if (added > removed && state.current > static_cast<int64_t>(state.peak)) {
    if (state.current > kMostCurrent) state.current = kMostCurrent;  // the others name generations
    state.peak = static_cast<uint64_t>(state.current);
    state.armed = true;
  } else if (state.armed) {
    state.armed = false;
    state.epoch = NextEpoch(state.epoch);
  }
  return state;
}

// What only the owner of a slot uses of its account. It is private memory: a forked child has its
// own, whatever becomes of the account.
struct PeakShare {
  int64_t limit;      // that the sum of the open account may reach
  uint64_t epoch;     // of the events that enter the account
  uint32_t sequence;  // of the newest generation that the slot has begun, or was about to
  uint32_t events;    // that entered the account in its generation
  bool found_far;     // the last event of the slot that looked at the word found it far
};

// Who enters an event. Without a slot all is 0.
struct PeakCaller {
  PeakShare* share = nullptr;
  uint32_t slot = 0;
  uint32_t slots = 0;      // number of slots now
  bool may_begin = false;  // a generation
};

// Where a process counts. Without accounts the word is always near.
struct PeakPlace {
  PackedPeak* word;
  PeakAccount* accounts = nullptr;
  PeakPolicy* policy = nullptr;
};
inline PeakPlace PeakPlaceOf(const Region& region) {
  return {&region.header().peak, region.peak_accounts(), &region.header().peak_policy};
}

// The steps of a test that interleaves threads; nothing in the product.
struct NoPeakSteps {
  static constexpr bool kChooses = false;     // whether generations begin
  static void Access() {}                     // before each access to shared memory
  static void Entered(uint64_t /*epoch*/) {}  // after the exchange that enters an event or a mark
  static void Pause() { __builtin_ia32_pause(); }
  static bool Begins() { return false; }
};

template <typename Steps>
class BasicPeakTracker {
 public:
  explicit BasicPeakTracker(PackedPeak* word) : place_{word} {}
  explicit BasicPeakTracker(const PeakPlace& place) : place_(place) {}

  // Enters an event of the only thread, and sets the epoch for its cells. False: it has to be
  // entered by Record. Pre: OneThread.
  [[gnu::always_inline]] bool RecordAlone(uint64_t added, uint64_t removed, uint64_t& epoch) {
    // Usually only the current bytes change: they are the low bits of the low half.
    PackedPeak seen = LoadUnordered();
    const uint64_t low = seen.low + added - removed;
    const auto current = static_cast<int64_t>(low & kPeakMaxBytes) - kPeakBias;
    const auto peak = static_cast<int64_t>(seen.high & kPeakMaxBytes);
    if (__builtin_expect(IsArmedOrFar(seen) || current > peak, 0) ||
        !CompareExchangeAlone(place_.word->low, seen.low, low)) {
      return false;
    }
    epoch = EpochOf(seen);
    return true;
  }

  // Enters an event while the word is near, and sets its epoch. False: it is far.
  [[gnu::always_inline]] bool RecordNear(uint64_t added, uint64_t removed, uint64_t& epoch) {
    PackedPeak seen = LoadUnordered();
    while (!IsFar(seen)) {
      const PeakState next = Apply(Unpack(seen), added, removed);
      if (!CompareExchange(seen, Pack(next))) continue;
      epoch = next.epoch;
      return true;
    }
    return false;
  }

  // The same if no generation should begin with the event. Pre: there is a policy.
  [[gnu::always_inline]] bool RecordStayingNear(uint64_t added, uint64_t removed, uint64_t& epoch) {
    PackedPeak seen = LoadUnordered();
    while (!IsFar(seen)) {
      const PeakState next = Apply(Unpack(seen), added, removed);
      const int32_t left = place_.policy->near_for.load(std::memory_order_relaxed);
      if (left <= 0 && ShouldBegin(next, static_cast<int64_t>(added - removed))) return false;
      if (!CompareExchange(seen, Pack(next))) continue;
      if (left > 0) place_.policy->near_for.store(left - 1, std::memory_order_relaxed);
      epoch = next.epoch;
      return true;
    }
    return false;
  }

  // Enters an event in the slot's account, and sets its epoch. False: the account isn't open, or
  // the event doesn't fit.
  [[gnu::always_inline]] static bool RecordInAccount(std::atomic<uint64_t>& account,
                                                     PeakShare& share, uint64_t added,
                                                     uint64_t removed, uint64_t& epoch) {
    uint64_t seen = Load(account);
    if ((seen & kAccountOpen) == 0) return false;
    const auto change = static_cast<int64_t>(added - removed);
    const int64_t sum = AmountIn(seen) + change;
    if (!Fits(sum, change, share.limit)) return false;
    if (!Exchange(account, seen, seen + (static_cast<uint64_t>(change) << 32))) return false;
    Steps::Entered(share.epoch);
    ++share.events;
    epoch = share.epoch;
    return true;
  }

  // Enters one event and returns the epoch for its cells.
  uint64_t Record(const PeakCaller& caller, uint64_t added, uint64_t removed) {
    return RecordOrdered(place_, caller, added, removed);
  }
  uint64_t Record(uint64_t added, uint64_t removed) { return Record({}, added, removed); }

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
    if (IsArmedOrFar(seen) && (added <= removed || IsFar(seen))) return false;
    // The value is torn unless `low` is the same before and after reading `high`.
    if (LoadLow() != seen.low) return false;
    pending = sum;
    epoch = EpochOf(seen);
    return true;
  }

  // Gets the word's line for writing, for an event that will be entered: one step instead of two.
  void Fetch() const { __asm__ volatile("prefetchw %0" : : "m"(*place_.word)); }

  // Enters what was held back.
  void RecordKept(const PeakCaller& caller, int64_t& pending) {
    const int64_t sum = pending;
    pending = 0;
    Record(caller, sum > 0 ? Size(sum) : 0, sum < 0 ? Size(sum) : 0);
  }

  // Enters what was held back, and the event. Returns its epoch.
  uint64_t RecordWithKept(const PeakCaller& caller, int64_t& pending, uint64_t added,
                          uint64_t removed) {
    const int64_t before = pending;
    const int64_t sum = Sum(before, added, removed);
    pending = 0;
    if (before > 0 && added <= removed) {
      Record(caller, static_cast<uint64_t>(before), 0);
      return Record(caller, added, removed);
    }
    return sum < 0 ? Record(caller, 0, Size(sum)) : Record(caller, Size(sum), 0);
  }

  // The live bytes that threads have entered (core/protocol/peak_reading.h).
  int64_t Current() const {
    PeakState state;
    ReadPeakState(WordReader{*this}, state);
    return state.current;
  }
  uint64_t Peak() const { return Unpack(LoadUnordered()).peak; }

  // The state at one moment, except for `current` while it is far, which is as in Current.
  PeakState Load() {
    PeakState state;
    ReadPeakState(WholeWordReader{{*this}, *this}, state);
    return state;
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
  // maximum or it was ended. `before` gets the state before; if that isn't what was expected, its
  // current bytes are not known while the word is far.
  bool EndSegment(const PeakState& expected, PeakState& before) {
    return EndSegmentIf(
        [&](const PeakState& state) {
          return state.peak == expected.peak && state.epoch == expected.epoch &&
                 state.armed == expected.armed;
        },
        before);
  }

  // Ends it in any case.
  PeakState EndSegment() {
    PeakState before;
    EndSegmentIf([](const PeakState&) { return true; }, before);
    return before;
  }

 private:
  static constexpr int kPatience = 4;  // how often it waits a moment for a closer
  static constexpr uint32_t kMostLevel = 8;
  static constexpr uint32_t kEnoughEvents = 16;

  static int64_t Sum(int64_t pending, uint64_t added, uint64_t removed) {
    return static_cast<int64_t>(static_cast<uint64_t>(pending) + added - removed);
  }
  static uint64_t Size(int64_t sum) { return static_cast<uint64_t>(sum < 0 ? -sum : sum); }

  // Whether an account's sum may become `sum` by an event that changes it by `change`.
  static bool Fits(int64_t sum, int64_t change, int64_t limit) {
    return change > 0 ? sum <= limit : sum >= -kMostInAccount;
  }

  template <typename Word>
  static Word Load(const std::atomic<Word>& word) {
    Steps::Access();
    return word.load(std::memory_order_acquire);
  }
  template <typename Word>
  static void Store(std::atomic<Word>& word, Word value) {
    Steps::Access();
    word.store(value, std::memory_order_release);
  }
  static bool Exchange(std::atomic<uint64_t>& word, uint64_t& expected, uint64_t desired) {
    Steps::Access();
    return word.compare_exchange_strong(expected, desired, std::memory_order_acq_rel,
                                        std::memory_order_acquire);
  }

  // Static, because `this` would have to be in memory for the call.
  [[gnu::noinline]] static uint64_t RecordOrdered(PeakPlace place, PeakCaller caller,
                                                  uint64_t added, uint64_t removed) {
    BasicPeakTracker tracker(place);
    PackedPeak seen = tracker.LoadUnordered();
    while (!IsFar(seen)) {
      const PeakState next = Apply(Unpack(seen), added, removed);
      if (tracker.Begins(caller, next, static_cast<int64_t>(added - removed))) break;
      if (tracker.CompareExchange(seen, Pack(next))) {
        Steps::Entered(next.epoch);
        tracker.NoteNear(caller);
        return next.epoch;
      }
    }
    return place.accounts == nullptr ? 0 : tracker.RecordFar(caller, added, removed);
  }

  // The same if the word is far, or should become so.
  [[gnu::noinline, gnu::cold]] uint64_t RecordFar(const PeakCaller& caller, uint64_t added,
                                                  uint64_t removed) {
    const uint32_t index = caller.share != nullptr ? AccountOfSlot(caller.slot) : kSharedAccount;
    Entry entry = {place_.accounts[index].account, index, static_cast<int64_t>(added - removed),
                   kNoGeneration};
    int patience = kPatience;
    for (;;) {
      // Before the word: else the account may be one of a later generation, and be overwritten.
      entry.seen = Load(entry.account);
      PackedPeak seen = LoadUnordered();
      if (!IsFar(seen)) {
        const PeakState next = Apply(Unpack(seen), added, removed);
        const bool begins = Begins(caller, next, entry.change);
        if (!CompareExchange(seen,
                             Pack(begins ? Begun(caller, next, kNoGeneration, Active()) : next))) {
          continue;
        }
        Steps::Entered(next.epoch);
        if (!begins) NoteNear(caller);
        return next.epoch;
      }
      Closing closing = {seen, Unpack(seen).generation};
      if (!ReadGeneration(closing)) continue;
      switch (Enter(caller, entry, closing)) {
        case Entered::kYes:
          return EpochOf(seen);
        case Entered::kLost:
          continue;
        case Entered::kClosed:
          if (patience-- > 0) {
            Steps::Pause();
            continue;
          }
          break;
        case Entered::kNoRoom:
          break;
      }
      if (!Close(closing)) continue;
      PeakState state = Unpack(seen);
      const uint64_t generation = state.generation;
      state = NearAgain(state, closing.current);
      const PeakState next = Apply(state, added, removed);
      const bool enough = WasEnough(caller, closing);
      const bool begins = enough && BeginsAgain(caller, next, entry.change, closing.active);
      if (!CompareExchange(seen,
                           Pack(begins ? Begun(caller, next, generation, closing.active) : next)))
        continue;
      Steps::Entered(next.epoch);
      NoteClosed(closing, enough, begins);
      if (caller.share != nullptr) caller.share->found_far = begins;
      return next.epoch;
    }
  }

  // An event on its way into an account.
  static constexpr uint64_t kNoGeneration = ~uint64_t{0};
  struct Entry {
    std::atomic<uint64_t>& account;
    uint32_t index;
    int64_t change;
    uint64_t taken_in;  // without a slot: the generation from whose pool it took `change`
    uint64_t seen = 0;
  };
  // A generation that the word names, and its sum once it is closed.
  struct Closing {
    PackedPeak seen;  // the word
    uint64_t generation;
    uint32_t accounts = 0;
    int64_t current = 0;
    uint32_t active = 0;  // accounts that had joined
  };
  enum class Entered { kYes, kLost, kClosed, kNoRoom };

  PeakGeneration& GenerationAt(uint64_t generation) const {
    return place_.accounts[AccountOfSlot(OpenerOf(generation))].generations[PlaceOf(generation)];
  }

  // False: the word has moved on, and what was read may be another generation's.
  bool ReadGeneration(Closing& closing) const {
    const PeakGeneration& from = GenerationAt(closing.generation);
    closing.accounts = Load(from.accounts);
    closing.current = Load(from.base);
    return LoadLow() == closing.seen.low;
  }

  // Joins the generation if need be.
  Entered Enter(const PeakCaller& caller, Entry& entry, const Closing& closing) {
    const uint64_t tag = TagOf(closing.generation);
    const bool joined = (entry.seen & kTagMask) == tag;
    if (joined && (entry.seen & kAccountOpen) == 0) return Entered::kClosed;
    if (entry.index >= closing.accounts) return Entered::kNoRoom;
    const int64_t sum = (joined ? AmountIn(entry.seen) : 0) + entry.change;
    if (sum < -kMostInAccount) return Entered::kNoRoom;
    const bool may = caller.share != nullptr ? TakeLimit(*caller.share, joined, sum, entry, closing)
                                             : TakeForOne(entry, closing);
    if (!may) return Entered::kNoRoom;
    if (!Exchange(entry.account, entry.seen,
                  AmountWord(sum, tag | kAccountJoined | kAccountOpen))) {
      return Entered::kLost;
    }
    Steps::Entered(EpochOf(closing.seen));
    if (caller.share != nullptr) {
      ++caller.share->events;
      caller.share->found_far = true;
    }
    return Entered::kYes;
  }

  // The stores have an order because a signal handler may leave this at any point.
  bool TakeLimit(PeakShare& share, bool joined, int64_t sum, const Entry& entry,
                 const Closing& closing) {
    const int64_t limit = joined ? share.limit : 0;
    const int64_t needed = entry.change > 0 && sum > limit ? sum - limit : 0;
    int64_t taken = 0;
    if (needed > 0 || !joined) {
      taken = Take(closing.generation, needed, true);
      if (taken < 0) return false;
    }
    if (!joined) {
      share.limit = 0;
      std::atomic_signal_fence(std::memory_order_seq_cst);
      share.epoch = EpochOf(closing.seen);
      share.events = 0;
      std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    share.limit = limit + taken;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return true;
  }

  // The shared account has no limit: each event takes what it adds.
  bool TakeForOne(Entry& entry, const Closing& closing) {
    if (entry.change <= 0 || entry.taken_in == closing.generation) return true;
    if (Take(closing.generation, entry.change, false) < 0) return false;
    entry.taken_in = closing.generation;
    return true;
  }

  // Takes at least `needed` bytes of the pool. -1: it hasn't as much, or is another generation's.
  int64_t Take(uint64_t generation, int64_t needed, bool more) {
    PeakGeneration& from = GenerationAt(generation);
    const uint64_t tag = TagOf(generation);
    const int64_t active = from.active.load(std::memory_order_relaxed);
    uint64_t pool = Load(from.pool);
    for (;;) {
      const int64_t left = AmountIn(pool);
      if ((pool & kTagMask) != tag || left < needed) return -1;
      int64_t taken = needed;
      if (more) {
        const int64_t part = left / (2 * (active > 0 ? active : 1));
        const int64_t some = 4 * needed < left ? 4 * needed : left;
        if (taken < part) taken = part;
        if (taken < some) taken = some;
      }
      if (taken == 0 || Exchange(from.pool, pool, AmountWord(left - taken, tag))) return taken;
    }
  }

  // Closes all accounts of a generation and adds their sums to its base. False: the word has moved
  // on.
  bool Close(Closing& closing) {
    const uint64_t tag = TagOf(closing.generation);
    closing.active = 0;
    for (uint32_t i = 0; i < closing.accounts; ++i) {
      std::atomic<uint64_t>& account = place_.accounts[i].account;
      uint64_t seen = Load(account);
      for (;;) {
        const bool joined = (seen & kTagMask) == tag;
        if (joined && (seen & kAccountOpen) == 0) break;
        // The account was loaded before, so it is of this generation or of an earlier one.
        if (LoadLow() != closing.seen.low) return false;
        const uint64_t closed = joined ? seen & ~kAccountOpen : AmountWord(0, tag);
        if (Exchange(account, seen, closed)) {
          seen = closed;
          break;
        }
      }
      closing.current += AmountIn(seen);
      closing.active += (seen & kAccountJoined) != 0 ? 1 : 0;
    }
    return true;
  }

  static PeakState NearAgain(PeakState state, int64_t current) {
    state.far = false;
    state.generation = 0;
    state.current = current;
    return state;
  }

  // Prepares a generation that begins with `next`. `living` is the one that the word names, in
  // whose place nothing may be written.
  PeakState Begun(const PeakCaller& caller, PeakState next, uint64_t living, uint32_t active) {
    uint32_t sequence = caller.share->sequence + 1;
    if (living != kNoGeneration && OpenerOf(living) == caller.slot &&
        PlaceOf(living) == PlaceOf(GenerationOf(caller.slot, sequence))) {
      ++sequence;
    }
    // Used up before anything is written: a signal handler may leave this at any point.
    caller.share->sequence = sequence;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    const uint64_t generation = GenerationOf(caller.slot, sequence);
    PeakGeneration& to = GenerationAt(generation);
    const int64_t room = static_cast<int64_t>(next.peak) - next.current;
    Store(to.base, next.current);
    Store(to.accounts, AccountOfSlot(caller.slots));
    to.active.store(active, std::memory_order_relaxed);
    Store(to.pool, AmountWord(room < kMostInAccount ? room : kMostInAccount, TagOf(generation)));
    next.far = true;
    next.generation = generation;
    next.current = 0;
    return next;
  }

  // --- when generations pay ---

  // Whether the heap is far enough below the peak for the threads that have been active.
  bool ShouldBegin(const PeakState& next, int64_t change) const {
    return HasRoom(next, change, Active());
  }
  uint32_t Active() const { return place_.policy->active.load(std::memory_order_relaxed); }
  static bool HasRoom(const PeakState& next, int64_t change, uint32_t active) {
    const int64_t room = static_cast<int64_t>(next.peak) - next.current;
    return !next.armed && room > 0 &&
           static_cast<uint64_t>(room) >= Size(change) * (active > 0 ? active : 1);
  }

  bool Begins(const PeakCaller& caller, const PeakState& next, int64_t change) const {
    if (!caller.may_begin) return false;
    if constexpr (Steps::kChooses) return MayBegin(next) && Steps::Begins();
    return place_.policy->near_for.load(std::memory_order_relaxed) <= 0 &&
           ShouldBegin(next, change);
  }
  bool BeginsAgain(const PeakCaller& caller, const PeakState& next, int64_t change,
                   uint32_t active) const {
    if (!caller.may_begin) return false;
    if constexpr (Steps::kChooses) return MayBegin(next) && Steps::Begins();
    return HasRoom(next, change, active);
  }
  // What the rules need, whether it pays or not.
  static bool MayBegin(const PeakState& next) {
    return !next.armed && next.current <= static_cast<int64_t>(next.peak);
  }

  // A close touches every account.
  static bool WasEnough(const PeakCaller& caller, const Closing& closing) {
    if constexpr (Steps::kChooses) return true;
    return caller.share != nullptr && caller.share->events >= kEnoughEvents + closing.accounts / 4;
  }

  void NoteNear(const PeakCaller& caller) {
    if (caller.share == nullptr) return;
    caller.share->found_far = false;
    if (place_.policy == nullptr) return;
    const int32_t left = place_.policy->near_for.load(std::memory_order_relaxed);
    if (left > 0) place_.policy->near_for.store(left - 1, std::memory_order_relaxed);
  }

  void NoteClosed(const Closing& closing, bool enough, bool begins) {
    PeakPolicy& policy = *place_.policy;
    policy.active.store(static_cast<uint16_t>(closing.active), std::memory_order_relaxed);
    if (begins) return;
    uint32_t level = policy.level.load(std::memory_order_relaxed);
    if (enough && level > 0) {
      --level;
    } else if (!enough && level < kMostLevel) {
      ++level;
    }
    policy.level.store(static_cast<uint16_t>(level), std::memory_order_relaxed);
    policy.near_for.store(static_cast<int32_t>((closing.accounts + 4 * closing.active) << level),
                          std::memory_order_relaxed);
  }

  // --- marks and looks ---

  template <typename Condition>
  bool EndSegmentIf(Condition condition, PeakState& before) {
    for (;;) {
      PackedPeak seen = LoadUnordered();
      before = Unpack(seen);
      const bool ends = condition(before);
      if (!ends) {
        if (CompareExchange(seen, seen)) return false;  // it wasn't torn
        continue;
      }
      Closing closing = {seen, before.generation};
      if (before.far) {
        if (!ReadGeneration(closing) || !Close(closing)) continue;
        before = NearAgain(before, closing.current);
      }
      if (!CompareExchange(seen, Pack(Marked(before)))) continue;
      Steps::Entered(NextEpoch(before.epoch));
      return true;
    }
  }

  struct WordReader {
    const BasicPeakTracker& tracker;

    // Torn if it is near: but not in the current bytes.
    bool Word(PackedPeak& word) const {
      word = tracker.LoadUnordered();
      return true;
    }
    GenerationStart Start(uint64_t generation) const {
      return StartOf(tracker.place_.accounts, kPeakAccounts, generation, LoadStepped());
    }
    bool Base(uint64_t generation, int64_t& base) const {
      base = Start(generation).base;
      return true;
    }
    bool Sum(uint64_t generation, AccountSums& sums) const {
      SumAccounts(tracker.place_.accounts, Start(generation), generation, LoadStepped(), sums);
      return true;
    }
    static auto LoadStepped() {
      return [](const auto& word) { return BasicPeakTracker::Load(word); };
    }
  };
  struct WholeWordReader : WordReader {
    BasicPeakTracker& writer;

    bool Word(PackedPeak& word) const {
      word = writer.LoadUnordered();
      while (!writer.CompareExchange(word, word)) {
      }
      return true;
    }
  };

  uint64_t LoadLow() const {
    Steps::Access();
    return __atomic_load_n(&place_.word->low, __ATOMIC_ACQUIRE);
  }

  // The value may be torn: the exchange then fails and returns the real one. `low` is read first:
  // every change of `high` also changes `low` (the current bytes, the generation or the epoch), so
  // an exchange of `low` alone fails if `high` is newer. For the same reason `high` is right if
  // `low` is the same again afterwards and the word is far: no generation comes twice.
  PackedPeak LoadUnordered() const {
    PackedPeak seen;
    seen.low = LoadLow();
    Steps::Access();
    seen.high = __atomic_load_n(&place_.word->high, __ATOMIC_ACQUIRE);
    return seen;
  }

  // In assembly because std::atomic of 16 bytes calls libatomic.
  bool CompareExchange(PackedPeak& expected, const PackedPeak& desired) {
    Steps::Access();
    bool done;
    if (OneThread()) {
      __asm__ __volatile__("cmpxchg16b %1"
                           : "=@ccz"(done), "+m"(*place_.word), "+a"(expected.low),
                             "+d"(expected.high)
                           : "b"(desired.low), "c"(desired.high)
                           : "memory");
    } else {
      __asm__ __volatile__("lock cmpxchg16b %1"
                           : "=@ccz"(done), "+m"(*place_.word), "+a"(expected.low),
                             "+d"(expected.high)
                           : "b"(desired.low), "c"(desired.high)
                           : "memory");
    }
    return done;
  }

  PeakPlace place_;
};

using PeakTracker = BasicPeakTracker<NoPeakSteps>;

}  // namespace memprof
