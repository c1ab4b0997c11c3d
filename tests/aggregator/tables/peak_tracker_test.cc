#include "aggregator/tables/peak_tracker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <cstdlib>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "aggregator/tables/booking.h"

namespace memprof {
namespace {

// Rows by the tracker's rule, over a few cells.
class Rows {
 public:
  explicit Rows(size_t sites) : cells_(sites) {}

  void Event(size_t to, uint64_t added, size_t from, uint64_t removed) {
    const uint64_t epoch = PeakTracker(&word_).Record(added, removed);
    if (removed != 0) Book(cells_[from], epoch, {.freed_bytes = removed, .freed_count = 1});
    if (added != 0) Book(cells_[to], epoch, {.allocated_bytes = added, .allocated_count = 1});
  }
  void Allocate(size_t site, uint64_t bytes) { Event(site, bytes, 0, 0); }
  void Free(size_t site, uint64_t bytes) { Event(0, 0, site, bytes); }

  int64_t AtPeak(size_t site) const {
    const PeakState state = Unpack(word_);
    const Cell& cell = cells_[site];
    if (!state.armed && cell.epoch == state.epoch) return cell.peak_bytes;
    return static_cast<int64_t>(cell.allocated_bytes - cell.freed_bytes);
  }
  PeakState state() const { return Unpack(word_); }

 private:
  PackedPeak word_ = Pack({0, 0, 0, false});
  std::vector<Cell> cells_;
};

TEST(PeakState, SurvivesPackingAtItsLimits) {
  for (const PeakState& state :
       {PeakState{0, 0, 0, false},
        PeakState{int64_t{1} << 46, kPeakMaxBytes, (1ull << 33) - 1, true},
        PeakState{-(int64_t{1} << 37), 0, 1, false}, PeakState{1, kPeakMaxBytes, 1ull << 17, false},
        PeakState{5, 6, (1ull << 17) - 1, true}, PeakState{kMostCurrent, 6, 7, false},
        PeakState{0, 6, 7, false, true, 0},
        PeakState{0, kPeakMaxBytes, (1ull << 33) - 1, false, true,
                  GenerationOf(kMaxSlots - 1, (1u << kSequenceBits) - 1)}}) {
    EXPECT_EQ(Unpack(Pack(state)), state);
  }
}

TEST(PeakTracker, ShowsTheSecondMaximumWithoutTheFirstOnesRows) {
  Rows rows(2);
  rows.Allocate(0, 100);
  rows.Free(0, 100);
  rows.Allocate(1, 150);
  EXPECT_EQ(rows.state().peak, 150u);
  EXPECT_EQ(rows.AtPeak(0), 0);
  EXPECT_EQ(rows.AtPeak(1), 150);
}

TEST(PeakTracker, KeepsTheFirstOfEqualMaxima) {
  Rows rows(2);
  rows.Allocate(0, 100);
  rows.Free(0, 100);
  rows.Allocate(1, 100);
  EXPECT_EQ(rows.AtPeak(0), 100);
  EXPECT_EQ(rows.AtPeak(1), 0);
}

TEST(PeakTracker, CountsAReallocAsOneStep) {
  Rows rows(2);
  rows.Allocate(0, 100);
  rows.Event(1, 120, 0, 100);
  EXPECT_EQ(rows.state().peak, 120u);
  EXPECT_EQ(rows.AtPeak(0), 0);
  EXPECT_EQ(rows.AtPeak(1), 120);
}

// Every event is compared with a model that copies all rows at every new maximum.
TEST(PeakTracker, AgreesWithANaiveModelAfterEveryEvent) {
  constexpr size_t kSites = 7;
  std::mt19937_64 random(3);
  for (int run = 0; run < 200; ++run) {
    Rows rows(kSites);
    std::vector<int64_t> live(kSites), at_peak(kSites);
    std::vector<std::pair<size_t, uint64_t>> blocks;
    int64_t current = 0;
    int64_t peak = 0;
    for (int event = 0; event < 300; ++event) {
      const size_t to = random() % kSites;
      const uint64_t bytes = random() % 5 * 8;  // equal maxima and empty blocks are common
      const uint64_t kind = blocks.empty() ? 0 : random() % 5;
      size_t from = 0;
      uint64_t removed = 0;
      if (kind >= 2) {
        std::swap(blocks[random() % blocks.size()], blocks.back());
        std::tie(from, removed) = blocks.back();
        blocks.pop_back();
      }
      const bool allocates = kind != 3 && kind != 4;
      rows.Event(to, allocates ? bytes : 0, from, removed);
      live[from] -= static_cast<int64_t>(removed);
      current -= static_cast<int64_t>(removed);
      if (allocates) {
        live[to] += static_cast<int64_t>(bytes);
        current += static_cast<int64_t>(bytes);
        blocks.emplace_back(to, bytes);
      }
      if (current > peak) {
        peak = current;
        at_peak = live;
      }
      ASSERT_EQ(rows.state().peak, static_cast<uint64_t>(peak));
      ASSERT_EQ(rows.state().current, current);
      for (size_t site = 0; site < kSites; ++site) ASSERT_EQ(rows.AtPeak(site), at_peak[site]);
    }
  }
}

// Threads with cells of their own: in any order, the rows sum to the word's peak.
TEST(PeakTracker, GivesRowsThatSumToThePeakWithThreads) {
  constexpr int kThreads = 4;
  for (int run = 0; run < 20; ++run) {
    PackedPeak word = Pack({0, 0, 0, false});
    std::vector<std::vector<Cell>> cells;
    for (int t = 0; t < kThreads; ++t) cells.emplace_back(5);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        PeakTracker tracker(&word);
        std::mt19937_64 random(static_cast<uint64_t>(run * kThreads + t));
        std::vector<std::pair<size_t, uint64_t>> blocks;
        for (int i = 0; i < 5000; ++i) {
          if (blocks.empty() || random() % 100 < 51) {
            const size_t site = random() % 5;
            const uint64_t bytes = random() % 100 + 1;
            blocks.emplace_back(site, bytes);
            Book(cells[static_cast<size_t>(t)][site], tracker.Record(bytes, 0),
                 {.allocated_bytes = bytes, .allocated_count = 1});
          } else {
            std::swap(blocks[random() % blocks.size()], blocks.back());
            const auto [site, bytes] = blocks.back();
            blocks.pop_back();
            Book(cells[static_cast<size_t>(t)][site], tracker.Record(0, bytes),
                 {.freed_bytes = bytes, .freed_count = 1});
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    const PeakState state = Unpack(word);
    int64_t peak = 0;
    int64_t current = 0;
    for (const auto& slot : cells) {
      for (const Cell& cell : slot) {
        const auto live = static_cast<int64_t>(cell.allocated_bytes - cell.freed_bytes);
        current += live;
        peak += !state.armed && cell.epoch == state.epoch ? cell.peak_bytes.load() : live;
      }
    }
    EXPECT_EQ(current, state.current);
    EXPECT_EQ(static_cast<uint64_t>(peak), state.peak);
  }
}

// The word, its accounts and the slots of a process with several threads.
struct Heap {
  static constexpr uint32_t kSlots = 3;
  PackedPeak word = Pack({0, 0, 0, false});
  PeakPolicy policy = {};
  std::vector<PeakAccount> accounts = std::vector<PeakAccount>(kPeakAccounts);
  PeakShare shares[kSlots] = {};

  Heap() { __libc_single_threaded = 0; }
  PeakTracker tracker() { return PeakTracker(PeakPlace{&word, accounts.data(), &policy}); }
  PeakCaller Caller(uint32_t slot) { return {&shares[slot], slot, kSlots, true}; }
  uint64_t Event(uint32_t slot, uint64_t added, uint64_t removed) {
    uint64_t epoch;
    if (PeakTracker::RecordInAccount(accounts[AccountOfSlot(slot)].account, shares[slot], added,
                                     removed, epoch)) {
      return epoch;
    }
    return tracker().Record(Caller(slot), added, removed);
  }
  // Far below a peak of 1,000,000 bytes, with one epoch behind it.
  void GoFarBelow() {
    Event(0, 1000000, 0);
    Event(0, 0, 900000);
  }
};

TEST(PeakGeneration, TakesEventsFarBelowThePeakWithoutTheWord) {
  Heap heap;
  heap.GoFarBelow();
  const PackedPeak far = heap.word;
  ASSERT_TRUE(Unpack(far).far);
  EXPECT_EQ(heap.tracker().Peak(), 1000000u);
  EXPECT_EQ(heap.tracker().Current(), 100000);
  for (int i = 0; i < 1000; ++i) {
    for (uint32_t slot = 0; slot < Heap::kSlots; ++slot) {
      EXPECT_EQ(heap.Event(slot, 70, 0), 1u);
      EXPECT_EQ(heap.Event(slot, 0, 60), 1u);
    }
    EXPECT_EQ(heap.tracker().Record(2, 1), 1u);  // without a slot
  }
  EXPECT_TRUE(heap.word == far);
  EXPECT_EQ(heap.tracker().Current(), 100000 + 1000 * (3 * 10 + 1));
  const PeakState state = heap.tracker().Load();
  EXPECT_EQ(state.current, heap.tracker().Current());
  EXPECT_EQ(state.epoch, 1u);
}

TEST(PeakGeneration, EndsExactlyWhenTheHeapReachesItsPeak) {
  Heap heap;
  heap.GoFarBelow();
  // The others have permissions that they never use.
  heap.Event(1, 10, 0);
  heap.Event(2, 10, 0);
  const uint64_t before = heap.Event(0, 900000 - 20, 0);
  EXPECT_EQ(before, 1u);
  EXPECT_EQ(heap.tracker().Current(), 1000000);
  EXPECT_EQ(heap.tracker().Peak(), 1000000u);
  EXPECT_EQ(heap.Event(0, 1, 0), 1u);
  EXPECT_EQ(Unpack(heap.word), (PeakState{1000001, 1000001, 1, true}));
  EXPECT_EQ(heap.Event(1, 0, 10), 2u);
  EXPECT_EQ(heap.tracker().Peak(), 1000001u);
}

TEST(PeakGeneration, IsEndedByAMark) {
  Heap heap;
  heap.GoFarBelow();
  for (uint32_t slot = 0; slot < Heap::kSlots; ++slot) heap.Event(slot, 50, 0);
  PeakState before;
  const PeakState seen = heap.tracker().Load();
  ASSERT_TRUE(seen.far);
  ASSERT_TRUE(heap.tracker().EndSegment(seen, before));
  EXPECT_EQ(before, (PeakState{100150, 1000000, 1, false}));
  EXPECT_EQ(Unpack(heap.word), (PeakState{100150, 100150, 2, false}));
  EXPECT_FALSE(heap.tracker().EndSegment(seen, before));
  EXPECT_EQ(before.epoch, 2u);
  // An account that was open is not any more.
  EXPECT_EQ(heap.Event(1, 1, 0), 2u);
  EXPECT_EQ(heap.tracker().Peak(), 100151u);
}

// Whatever is in the way: a whole block larger than an account can hold, and one that is taken
// away.
TEST(PeakGeneration, TakesEventsThatNoAccountHolds) {
  Heap heap;
  heap.Event(0, uint64_t{1} << 45, 0);
  heap.Event(0, 0, (uint64_t{1} << 45) - 100);
  ASSERT_TRUE(IsFar(heap.word));
  heap.Event(1, uint64_t{1} << 44, 0);
  EXPECT_EQ(heap.tracker().Current(), (int64_t{1} << 44) + 100);
  heap.Event(2, 0, uint64_t{1} << 44);
  EXPECT_EQ(heap.tracker().Current(), 100);
  EXPECT_EQ(heap.tracker().Peak(), uint64_t{1} << 45);
}

// A heap that always stands at its peak gains nothing from generations, and has few.
TEST(PeakGeneration, IsRareInAHeapAtItsPeak) {
  Heap heap;
  heap.Event(0, 1000, 0);
  uint64_t generations = 0;
  for (int i = 0; i < 10000; ++i) {
    heap.Event(static_cast<uint32_t>(i % 2), 100, 0);
    heap.Event(static_cast<uint32_t>(i % 2), 0, 90);
    generations = heap.shares[0].sequence + heap.shares[1].sequence;
  }
  EXPECT_LT(generations, 50u);
  EXPECT_EQ(heap.tracker().Current(), 1000 + 10000 * 10);
}

// Threads that allocate, free, and end segments, near the peak and far below it. In any order the
// rows sum to the word's peak, and what is live to its current bytes.
TEST(PeakGeneration, GivesRowsThatSumToThePeakWithThreads) {
  constexpr uint32_t kThreads = 4;
  uint64_t in_accounts = 0;
  for (uint64_t run = 0; run < 30; ++run) {
    PackedPeak word = Pack({0, 0, 0, false});
    PeakPolicy policy = {};
    std::vector<PeakAccount> accounts(kPeakAccounts);
    std::vector<std::vector<Cell>> cells;
    for (uint32_t t = 0; t < kThreads; ++t) cells.emplace_back(5);
    std::atomic<uint64_t> far{0};
    std::vector<std::thread> threads;
    for (uint32_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        PeakTracker tracker(PeakPlace{&word, accounts.data(), &policy});
        PeakShare share = {};
        const bool has_slot = t != 3 || run % 2 != 0;
        std::mt19937_64 random(run * kThreads + t);
        std::vector<std::pair<size_t, uint64_t>> blocks;
        const auto enter = [&](uint64_t added, uint64_t removed) {
          uint64_t epoch;
          if (!has_slot) return tracker.Record(added, removed);
          if (PeakTracker::RecordInAccount(accounts[AccountOfSlot(t)].account, share, added,
                                           removed, epoch)) {
            far.fetch_add(1, std::memory_order_relaxed);
            return epoch;
          }
          return tracker.Record({&share, t, kThreads, true}, added, removed);
        };
        for (int i = 0; i < 10000; ++i) {
          const uint64_t more = i / 1000 % 2 == 0 ? 54 : 46;
          if (run % 3 == 0 && random() % 3000 == 0) tracker.EndSegment();
          if (blocks.empty() || random() % 100 < more) {
            const size_t site = random() % 5;
            const uint64_t bytes = random() % 100 + 1;
            blocks.emplace_back(site, bytes);
            Book(cells[t][site], enter(bytes, 0), {.allocated_bytes = bytes, .allocated_count = 1});
          } else {
            std::swap(blocks[random() % blocks.size()], blocks.back());
            const auto [site, bytes] = blocks.back();
            blocks.pop_back();
            Book(cells[t][site], enter(0, bytes), {.freed_bytes = bytes, .freed_count = 1});
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    const PeakState state = PeakTracker(PeakPlace{&word, accounts.data(), &policy}).Load();
    int64_t peak = 0;
    int64_t current = 0;
    for (const auto& slot : cells) {
      for (const Cell& cell : slot) {
        const auto live = static_cast<int64_t>(cell.allocated_bytes - cell.freed_bytes);
        current += live;
        peak += !state.armed && cell.epoch == state.epoch ? cell.peak_bytes.load() : live;
      }
    }
    EXPECT_EQ(current, state.current);
    EXPECT_EQ(static_cast<uint64_t>(peak), state.peak);
    in_accounts += far;
  }
  EXPECT_GT(in_accounts, 100000u);  // else this has tested nothing
}

TEST(PeakSlack, IsNoneForSmallHeapsAndLittleOfLargeOnes) {
  EXPECT_EQ(PeakSlack(2 << 20, 2), 0u);
  EXPECT_EQ(PeakSlackBound(2 << 20, 2), 0u);
  for (const uint64_t peak : {uint64_t{1} << 40, (uint64_t{1} << 22) + (1 << 13),
                              (uint64_t{1} << 23) - 1, uint64_t{12345678901}}) {
    for (const uint32_t threads : {1u, 2u, 3u, 64u, 1024u}) {
      const uint64_t bound = PeakSlackBound(peak, threads);
      EXPECT_LT(bound, peak / 1000);
      uint64_t sum = 0;  // what the k-th may have held back since there were k
      for (uint32_t k = 1; k <= threads; ++k) sum += PeakSlack(peak, k);
      EXPECT_LE(sum, bound) << peak << " " << threads;
    }
  }
}

TEST(PeakSlack, ChangesSeldom) {
  EXPECT_EQ(PeakSlack(uint64_t{1} << 30, 2), 1u << 16);
  EXPECT_EQ(PeakSlack((uint64_t{1} << 30) + (1 << 27), 2), 1u << 16);
  EXPECT_EQ(PeakSlack((uint64_t{1} << 30) + (1 << 28), 2), 5u << 14);
  EXPECT_EQ(PeakSlack(uint64_t{1} << 46, 1), 7u << 29);  // and is never more
}

// One of several threads, of a heap of 1,000,000 bytes in epoch 5.
struct Keeper {
  explicit Keeper(bool armed) : word(Pack({1000000, 1000000, 5, armed})) {}
  bool KeepBack(uint64_t slack, uint64_t added, uint64_t removed) {
    return tracker.KeepBack(pending, slack, added, removed, epoch);
  }

  PackedPeak word;
  PeakTracker tracker{&word};
  int64_t pending = 0;
  uint64_t epoch = 0;
};

TEST(PeakTracker, KeepsBackUpToTheSlack) {
  Keeper keeper(false);
  EXPECT_TRUE(keeper.KeepBack(700, 100, 0));
  EXPECT_EQ(keeper.epoch, 5u);
  EXPECT_TRUE(keeper.KeepBack(700, 0, 100));
  EXPECT_EQ(keeper.pending, 0);
  EXPECT_TRUE(keeper.KeepBack(700, 0, 700));
  EXPECT_FALSE(keeper.KeepBack(700, 0, 1));
  EXPECT_FALSE(keeper.KeepBack(0, 1, 0));
  EXPECT_EQ(keeper.pending, -700);
  EXPECT_EQ(keeper.tracker.Current(), 1000000);
  EXPECT_EQ(keeper.tracker.RecordWithKept({}, keeper.pending, 0, 1), 5u);
  EXPECT_EQ(keeper.pending, 0);
  EXPECT_EQ(keeper.tracker.Current(), 999299);
}

TEST(PeakTracker, KeepsBackOnlyIncreasesOfAMaximum) {
  Keeper keeper(true);
  EXPECT_TRUE(keeper.KeepBack(700, 100, 0));
  EXPECT_FALSE(keeper.KeepBack(700, 0, 100));
  EXPECT_FALSE(keeper.KeepBack(700, 100, 100));
  EXPECT_EQ(keeper.tracker.RecordWithKept({}, keeper.pending, 0, 100),
            6u);  // after the new maximum
  EXPECT_EQ(keeper.tracker.Peak(), 1000100u);
  EXPECT_EQ(keeper.tracker.Current(), 1000000);
}

// As a thread does it.
uint64_t RecordLater(PeakTracker& tracker, int64_t& pending, uint64_t slack, uint64_t added,
                     uint64_t removed) {
  uint64_t epoch;
  if (tracker.KeepBack(pending, slack, added, removed, epoch)) return epoch;
  return tracker.RecordWithKept({}, pending, added, removed);
}

// Threads hold back some changes: the recorded peak differs from the true one by at most what they
// hold back. The true one is known since each thread's part is: all climb together to a summit.
TEST(PeakTracker, IsWithinWhatThreadsKeepBack) {
  constexpr int kThreads = 4;
  constexpr uint64_t kSlack = 700;
  PackedPeak word = Pack({0, 0, 0, false});
  std::vector<Cell> cells(kThreads);
  std::vector<int64_t> pending(kThreads);
  std::barrier summit(kThreads);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      PeakTracker tracker(&word);
      std::mt19937_64 random(t);
      std::vector<uint64_t> blocks;
      uint64_t live = 0;
      auto allocate = [&](uint64_t bytes) {
        blocks.push_back(bytes);
        live += bytes;
        Book(cells[t], RecordLater(tracker, pending[t], kSlack, bytes, 0),
             {.allocated_bytes = bytes, .allocated_count = 1});
      };
      auto free = [&] {
        const uint64_t bytes = blocks.back();
        blocks.pop_back();
        live -= bytes;
        Book(cells[t], RecordLater(tracker, pending[t], kSlack, 0, bytes),
             {.freed_bytes = bytes, .freed_count = 1});
      };
      for (int i = 0; i < 20000; ++i) {
        if (blocks.empty() || (live < 100000 && random() % 100 < 52)) {
          allocate(random() % 200 + 1);
        } else {
          free();
        }
      }
      while (live < 200000) allocate(std::min<uint64_t>(random() % 200 + 1, 200000 - live));
      summit.arrive_and_wait();
      while (!blocks.empty()) free();
    });
  }
  for (std::thread& thread : threads) thread.join();
  const PeakState state = Unpack(word);
  int64_t rows = 0;
  int64_t kept_back = 0;
  for (size_t t = 0; t < kThreads; ++t) {
    EXPECT_LE(std::abs(pending[t]), static_cast<int64_t>(kSlack));
    kept_back += pending[t];
    const auto live = static_cast<int64_t>(cells[t].allocated_bytes - cells[t].freed_bytes);
    rows += !state.armed && cells[t].epoch == state.epoch ? cells[t].peak_bytes.load() : live;
  }
  EXPECT_EQ(state.current, -kept_back);
  EXPECT_NEAR(static_cast<double>(state.peak), 800000, kThreads * kSlack);
  EXPECT_NEAR(static_cast<double>(rows), 800000, 3 * kThreads * kSlack);
}

}  // namespace
}  // namespace memprof
