#include "aggregator/tables/segments.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "aggregator/tables/booking.h"
#include "aggregator/tables/peak_tracker.h"
#include "tests/aggregator/tables/test_region.h"

namespace memprof {
namespace {

constexpr size_t kSites = 7;

struct Row {
  int64_t bytes = 0;
  int64_t count = 0;
  friend bool operator==(const Row&, const Row&) = default;
};
using Rows = std::vector<Row>;

int64_t Sum(const Rows& rows) {
  int64_t sum = 0;
  for (const Row& row : rows) sum += row.bytes;
  return sum;
}

// A region with `slots` cells a site, the segments of it, and events.
class Heap {
 public:
  explicit Heap(size_t slots = 1, bool (*counts)() = nullptr) : segments_(region_.get(), counts) {
    region_.get().Take(Table::kSites, kSites);
    for (size_t slot = 0; slot < slots; ++slot) {
      region_.get().Take(Table::kCellChunks);
      for (size_t site = 0; site < kSites; ++site) {
        CellOf(slot, site).site_plus_one = static_cast<uint32_t>(site + 1);
      }
    }
  }
  ~Heap() = default;

  Cell& CellOf(size_t slot, size_t site) {
    return region_.get().cells()[slot * kCellsPerChunk + site];
  }
  PackedPeak* word() { return &region_.get().header().peak; }
  Segments& segments() { return segments_; }
  Region& region() { return region_.get(); }
  std::vector<unsigned char> Bytes() {
    const auto* bytes = reinterpret_cast<const unsigned char*>(&region_.get().header());
    return {bytes, bytes + region_.get().header().region_bytes};
  }

  void Event(size_t slot, size_t to, uint64_t added, size_t from, uint64_t removed, bool allocates,
             bool frees) {
    const uint64_t epoch = PeakTracker(word()).Record(added, removed);
    if (frees) Book(CellOf(slot, from), epoch, {.freed_bytes = removed, .freed_count = 1});
    if (allocates) Book(CellOf(slot, to), epoch, {.allocated_bytes = added, .allocated_count = 1});
  }
  void Allocate(size_t site, uint64_t bytes) { Event(0, site, bytes, 0, 0, true, false); }
  void Free(size_t site, uint64_t bytes) { Event(0, 0, 0, site, bytes, false, true); }

  // The run's peak, as a reader finds it.
  uint64_t Peak() { return std::max(Unpack(*word()).peak, segments_.KeptPeak()); }
  Rows AtPeak() {
    const RegionHeader& header = region_.get().header();
    const PeakState state = Unpack(*word());
    Rows rows(kSites);
    if (header.kept_generation != 0 && segments_.KeptPeak() >= state.peak) {
      const uint32_t half = header.kept_generation % 2;
      const PeakRow* kept = region_.get().Records<PeakRow>(Table::kPeakRows) +
                            half * (region_.get().capacity(Table::kPeakRows) / 2);
      for (size_t site = 0; site < kSites; ++site)
        rows[site] = {kept[site].bytes, kept[site].count};
      return rows;
    }
    for (uint32_t i = 0; i < region_.get().count(Table::kCellChunks) * kCellsPerChunk; ++i) {
      const Cell& cell = region_.get().cells()[i];
      if (cell.site_plus_one == 0) continue;
      Row& row = rows[cell.site_plus_one - 1];
      const bool kept = !state.armed && cell.epoch == state.epoch;
      row.bytes += kept ? cell.peak_bytes.load()
                        : static_cast<int64_t>(cell.allocated_bytes - cell.freed_bytes);
      row.count += kept ? cell.peak_count.load()
                        : static_cast<int64_t>(cell.allocated_count - cell.freed_count);
    }
    return rows;
  }

  ScopeId Begin() {
    const Segments::Turn turn(segments_, this);
    return turn.mine() ? segments_.Begin({}, false) : 0;
  }
  ScopeFigures Read(ScopeId scope, bool end) {
    const Segments::Turn turn(segments_, this);
    ScopeFigures figures;
    EXPECT_TRUE(segments_.Read(scope, {}, end, &figures));
    return figures;
  }
  Rows RowsOf(ScopeId scope, ScopeOrder order) {
    Rows rows(kSites);
    for (uint32_t site = 0; site < segments_.Sites(scope); ++site) {
      const SiteRow row = segments_.Row(scope, order, site);
      rows[site] = {row.bytes, row.count};
    }
    return rows;
  }
  void Release(ScopeId scope) {
    const Segments::Turn turn(segments_, this);
    segments_.Release(scope);
  }

 private:
  TestRegion region_{1 << 20};
  Segments segments_;
};

TEST(Segments, GiveTheRunItsHighestPeakOfAll) {
  Heap heap;
  heap.Allocate(0, 100);
  heap.Free(0, 100);
  heap.Begin();
  heap.Allocate(1, 60);
  EXPECT_EQ(heap.Peak(), 100u);
  EXPECT_EQ(heap.AtPeak()[0], (Row{100, 1}));
  EXPECT_EQ(heap.AtPeak()[1], (Row{0, 0}));
  heap.Allocate(2, 70);
  EXPECT_EQ(heap.Peak(), 130u);
  EXPECT_EQ(heap.AtPeak()[0], (Row{0, 0}));
  EXPECT_EQ(heap.AtPeak()[1], (Row{60, 1}));
  EXPECT_EQ(heap.AtPeak()[2], (Row{70, 1}));
}

TEST(Segments, GiveAScopeTheGrowthAndNotWhatWasThereBefore) {
  Heap heap;
  heap.Allocate(0, 1000);
  heap.Free(0, 1000);
  heap.Allocate(0, 50);
  const ScopeId scope = heap.Begin();
  heap.Allocate(1, 30);
  heap.Allocate(2, 7);
  heap.Free(1, 30);
  heap.Allocate(3, 1);
  const ScopeFigures figures = heap.Read(scope, true);
  EXPECT_EQ(figures.start_bytes, 50);
  EXPECT_EQ(figures.peak_bytes, 87);
  EXPECT_EQ(figures.now_bytes, 58);
  EXPECT_EQ(figures.leaked, (SiteRow{8, 2}));
  EXPECT_EQ(figures.allocated, (SiteRow{38, 3}));
  EXPECT_FALSE(figures.inexact);
  EXPECT_EQ(figures.bound_bytes, 0u);
  EXPECT_EQ(heap.RowsOf(scope, ScopeOrder::kPeak), (Rows{{}, {30, 1}, {7, 1}, {}, {}, {}, {}}));
  EXPECT_EQ(heap.RowsOf(scope, ScopeOrder::kLeaked), (Rows{{}, {}, {7, 1}, {1, 1}, {}, {}, {}}));
}

TEST(Segments, GiveAParentTheLargerOfItsOwnAndItsChildrens) {
  for (const bool child_is_larger : {false, true}) {
    Heap heap;
    const ScopeId parent = heap.Begin();
    heap.Allocate(0, 50);
    heap.Free(0, 50);
    const ScopeId child = heap.Begin();
    heap.Allocate(1, child_is_larger ? 70 : 30);
    heap.Free(1, child_is_larger ? 70 : 30);
    EXPECT_EQ(heap.Read(child, true).peak_bytes, child_is_larger ? 70 : 30);
    EXPECT_EQ(heap.Read(parent, true).peak_bytes, child_is_larger ? 70 : 50);
    EXPECT_EQ(heap.RowsOf(parent, ScopeOrder::kPeak)[child_is_larger ? 1 : 0].count, 1);
  }
}

TEST(Segments, HaveNoFigureOfAScopeThatWasReleased) {
  Heap heap;
  const ScopeId scope = heap.Begin();
  heap.Release(scope);
  const ScopeId next = heap.Begin();
  EXPECT_NE(next, scope);
  const Segments::Turn turn(heap.segments(), &heap);
  ScopeFigures figures;
  EXPECT_FALSE(heap.segments().Read(scope, {}, true, &figures));
  EXPECT_FALSE(heap.segments().Read(0, {}, true, &figures));
}

TEST(Segments, RefuseTheScopeAfterTheLast) {
  Heap heap;
  std::vector<ScopeId> scopes;
  for (uint32_t i = 0; i < kMaxScopes; ++i) scopes.push_back(heap.Begin());
  EXPECT_EQ(heap.Begin(), 0u);
  heap.Release(scopes[5]);
  EXPECT_NE(heap.Begin(), 0u);
}

TEST(Segments, KeepANamedMomentsRowsAndTheNewestOfAName) {
  Heap heap;
  heap.Allocate(1, 10);
  heap.Allocate(4, 20);
  const Segments::Turn turn(heap.segments(), &heap);
  EXPECT_TRUE(heap.segments().KeepNamedMoment("first", 5));
  heap.Free(1, 10);
  EXPECT_TRUE(heap.segments().KeepNamedMoment("second", 6));
  heap.Allocate(5, 30);
  heap.Allocate(6, 0);
  EXPECT_TRUE(heap.segments().KeepNamedMoment("first", 7));
  EXPECT_FALSE(heap.segments().KeepNamedMoment("", 8));
  const auto* records = heap.region().Records<NamedMomentRecord>(Table::kNamedMoments);
  const auto* rows = heap.region().Records<NamedMomentRow>(Table::kNamedMomentRows);
  ASSERT_EQ(heap.region().count(Table::kNamedMoments), 2u);
  auto texts = [&](const NamedMomentRecord& record) {
    std::string text = record.name;
    text += "@" + std::to_string(record.time_ns);
    for (uint32_t i = 0; i < record.rows; ++i) {
      const NamedMomentRow& row = rows[record.first_row + i];
      text += " " + std::to_string(row.site) + ":" + std::to_string(row.bytes) + "/" +
              std::to_string(row.count);
    }
    return text;
  };
  EXPECT_EQ(texts(records[0]), "first@7 4:20/1 5:30/1 6:0/1");
  EXPECT_EQ(texts(records[1]), "second@6 4:20/1");
}

TEST(Segments, KeepNoMoreThanThereIsRoomFor) {
  Heap heap;
  heap.Allocate(1, 10);
  const Segments::Turn turn(heap.segments(), &heap);
  for (uint32_t i = 0; i < kMaxNamedMomentRecords; ++i) {
    EXPECT_TRUE(heap.segments().KeepNamedMoment(std::to_string(i).c_str(), i));
  }
  EXPECT_FALSE(heap.segments().KeepNamedMoment("one more", 0));
  EXPECT_TRUE(heap.segments().KeepNamedMoment("7", 0));
}

// A name whose snapshots have more sites each time takes new rows now and then, not each time.
TEST(Segments, HaveRowsForEveryNameThoughEachGrowsSiteBySite) {
  Heap heap;
  // 1 + 2 + 4 + 8 of each, where 1 + 2 + … + 7 would not fit.
  heap.region().Take(Table::kNamedMomentRows,
                     heap.region().capacity(Table::kNamedMomentRows) - kMaxNamedMomentRecords * 15);
  const Segments::Turn turn(heap.segments(), &heap);
  for (size_t site = 0; site < kSites; ++site) {
    heap.Allocate(site, 10);
    for (uint32_t i = 0; i < kMaxNamedMomentRecords; ++i) {
      ASSERT_TRUE(heap.segments().KeepNamedMoment(std::to_string(i).c_str(), i))
          << site << " " << i;
    }
  }
}

TEST(Segments, KeepASmallerNamedMomentAfterOneThatThereWasNoRoomFor) {
  Heap heap;
  const Segments::Turn turn(heap.segments(), &heap);
  heap.region().Take(Table::kNamedMomentRows, heap.region().capacity(Table::kNamedMomentRows) - 3);
  for (size_t site = 0; site < 5; ++site) heap.Allocate(site, 10);
  EXPECT_FALSE(heap.segments().KeepNamedMoment("large", 1));
  heap.Free(0, 10);
  heap.Free(1, 10);
  EXPECT_TRUE(heap.segments().KeepNamedMoment("of three rows", 2));
}

TEST(Segments, EndANamedMomentsSequenceEvenThoughOneWasLeftInTheMiddle) {
  Heap heap;
  heap.Allocate(1, 10);
  const Segments::Turn turn(heap.segments(), &heap);
  EXPECT_TRUE(heap.segments().KeepNamedMoment("name", 1));
  auto& sequence = heap.region().Records<NamedMomentRecord>(Table::kNamedMoments)->sequence;
  const uint32_t left = ++sequence;
  EXPECT_TRUE(heap.segments().KeepNamedMoment("name", 2));
  EXPECT_EQ(sequence, left + 1);
}

// Changes that a thread holds back are in its cells and not in the word.
TEST(Segments, HaveNoPeakBelowTheBeginOrTheEnd) {
  constexpr uint64_t kSlack = 4000;
  for (const bool ends_higher : {false, true}) {
    Heap heap;
    heap.region().header().peak_slack_bound = kSlack;
    auto keep_back = [&](size_t site, const CellChange& change) {
      Book(heap.CellOf(0, site), Unpack(*heap.word()).epoch, change);
    };
    heap.Allocate(0, 3000);
    keep_back(1, {.allocated_bytes = 4000, .allocated_count = 1});
    const ScopeId scope = heap.Begin();
    keep_back(0, {.freed_bytes = 3000, .freed_count = 1});
    // It enters the word together with the 4000: the word has a new maximum of 7200, while 4200 are
    // live.
    Book(heap.CellOf(0, 2), PeakTracker(heap.word()).Record(4200, 0),
         {.allocated_bytes = 200, .allocated_count = 1});
    PeakTracker(heap.word()).Record(0, 0);
    if (ends_higher) keep_back(3, {.allocated_bytes = 3500, .allocated_count = 1});
    const ScopeFigures figures = heap.Read(scope, true);
    EXPECT_EQ(figures.start_bytes, 7000);
    EXPECT_EQ(figures.now_bytes, ends_higher ? 7700 : 4200);
    EXPECT_EQ(figures.peak_bytes, ends_higher ? 7700 : 7000);
    EXPECT_GE(figures.bound_bytes, 2 * kSlack);
    EXPECT_EQ(Sum(heap.RowsOf(scope, ScopeOrder::kPeak)), figures.peak_bytes - figures.start_bytes);
  }
}

TEST(Segments, DontTakeTheNextOwnerOfASlotForTheThreadThatBeganTheScope) {
  Heap heap;
  SlotTable table;
  ThreadSlot* slot = table.Acquire(1);
  const Segments::Turn turn(heap.segments(), &heap);
  const ScopeId scope = heap.segments().Begin({slot, {}, false}, true);
  ScopeFigures figures;
  ASSERT_TRUE(heap.segments().Read(scope, {slot, {}, false}, false, &figures));
  EXPECT_TRUE(figures.thread_known && figures.thread_watched);
  table.Release(slot);
  ASSERT_EQ(table.Acquire(2), slot);
  ASSERT_TRUE(heap.segments().Read(scope, {slot, {}, false}, true, &figures));
  EXPECT_FALSE(figures.thread_known || figures.thread_watched);
}

TEST(Segments, ReleaseAScopeLaterWhoseThreadCouldNotHaveTheTurn) {
  Heap heap;
  std::vector<ScopeId> scopes;
  for (uint32_t i = 0; i < kMaxScopes; ++i) scopes.push_back(heap.Begin());
  heap.Release(scopes[1]);
  heap.segments().ReleaseLater(scopes[1]);  // it has gone already
  heap.segments().ReleaseLater(scopes[2]);
  EXPECT_NE(heap.Begin(), 0u);  // in the place of 1
  EXPECT_EQ(heap.Begin(), 0u);
  {
    const Segments::Turn turn(heap.segments(), &heap);
    EXPECT_EQ(heap.segments().ReleaseLeft(), 0u);
    ScopeFigures figures;
    EXPECT_FALSE(heap.segments().Read(scopes[2], {}, true, &figures));
  }
  EXPECT_NE(heap.Begin(), 0u);
  EXPECT_EQ(heap.Begin(), 0u);
}

// A signal handler that interrupts a mark forks at the n-th check whether the process counts: here
// the child goes on.
struct Fork {
  static inline uint32_t asked, after;
  static inline Heap* heap;
  static inline std::vector<unsigned char> region;  // as the child found it

  static bool Counts() {
    if (asked++ < after) return true;
    if (region.empty()) region = heap->Bytes();
    return false;
  }

  // How often it was asked.
  static uint32_t InMark(bool of_moment, uint32_t nth) {
    Heap mine(1, Counts);
    heap = &mine;
    asked = 0;
    after = ~0u;
    region.clear();
    mine.Allocate(1, 10);
    mine.Begin();
    for (size_t site = 0; site < kSites; ++site) mine.Allocate(site, 100);
    mine.Free(3, 100);
    asked = 0;
    after = nth;
    {
      const Segments::Turn turn(mine.segments(), &mine);
      const bool made = of_moment ? mine.segments().KeepNamedMoment("name", 1)
                                  : mine.segments().Begin({}, false) != 0;
      EXPECT_EQ(made, region.empty());
    }
    EXPECT_TRUE(region.empty() || region == mine.Bytes()) << of_moment << " " << nth;
    return asked;
  }
};

TEST(Segments, LeaveTheRegionToTheParentInAForkedChild) {
  for (const bool of_moment : {false, true}) {
    const uint32_t all = Fork::InMark(of_moment, ~0u);
    EXPECT_GT(all, kSites);
    for (uint32_t nth = 0; nth < all; ++nth) Fork::InMark(of_moment, nth);
  }
}

// A naive model's record of a scope.
struct ModelScope {
  Rows base, at_peak;
  int64_t peak;
  Row allocated;
};

// Random events and marks, compared with a model that copies all rows at each new maximum of each
// scope.
TEST(Segments, AgreeWithANaiveModelAfterEveryStep) {
  std::mt19937_64 random(11);
  for (int run = 0; run < 60; ++run) {
    Heap heap;
    Rows live(kSites), run_rows(kSites);
    int64_t run_peak = 0;
    std::map<ScopeId, ModelScope> scopes;
    std::vector<std::pair<size_t, uint64_t>> blocks;
    for (int step = 0; step < 300; ++step) {
      const uint64_t what = random() % 10;
      if (what == 0 && scopes.size() < 12) {
        const ScopeId scope = heap.Begin();
        ASSERT_NE(scope, 0u);
        scopes[scope] = {live, live, Sum(live), {}};
      } else if (what == 1 && !scopes.empty()) {
        auto it = scopes.begin();
        std::advance(it, random() % scopes.size());
        const auto& [id, model] = *it;
        const bool end = random() % 2 == 0;
        const ScopeFigures figures = heap.Read(id, end);
        ASSERT_EQ(figures.start_bytes, Sum(model.base));
        ASSERT_EQ(figures.peak_bytes, model.peak);
        ASSERT_EQ(figures.now_bytes, Sum(live));
        ASSERT_EQ(figures.growth.bytes, Sum(live) - Sum(model.base));
        ASSERT_EQ((Row{figures.allocated.bytes, figures.allocated.count}), model.allocated);
        ASSERT_FALSE(figures.inexact);
        ASSERT_EQ(figures.bound_bytes, 0u);
        if (end) {
          const Rows peak = heap.RowsOf(id, ScopeOrder::kPeak);
          Row leaked;
          for (size_t site = 0; site < kSites; ++site) {
            const Row& base = model.base[site];
            ASSERT_EQ(peak[site], (Row{model.at_peak[site].bytes - base.bytes,
                                       model.at_peak[site].count - base.count}));
            const Row grown = {live[site].bytes - base.bytes, live[site].count - base.count};
            if (grown.bytes < 0 || (grown.bytes == 0 && grown.count <= 0)) continue;
            leaked.bytes += grown.bytes;
            leaked.count += std::max<int64_t>(grown.count, 0);
          }
          ASSERT_EQ((Row{figures.leaked.bytes, figures.leaked.count}), leaked);
          heap.Release(id);
          scopes.erase(it);
        }
      } else {
        const bool frees = !blocks.empty() && random() % 2 == 0;
        const bool allocates = !frees || random() % 4 == 0;  // both: a realloc
        const size_t to = random() % kSites;
        const uint64_t bytes = allocates ? random() % 5 * 8 : 0;
        size_t from = 0;
        uint64_t removed = 0;
        if (frees) {
          std::swap(blocks[random() % blocks.size()], blocks.back());
          std::tie(from, removed) = blocks.back();
          blocks.pop_back();
          live[from].bytes -= static_cast<int64_t>(removed);
          --live[from].count;
        }
        if (allocates) {
          blocks.emplace_back(to, bytes);
          live[to].bytes += static_cast<int64_t>(bytes);
          ++live[to].count;
          for (auto& [id, model] : scopes) {
            model.allocated.bytes += static_cast<int64_t>(bytes);
            ++model.allocated.count;
          }
        }
        heap.Event(0, to, bytes, from, removed, allocates, frees);
        const int64_t current = Sum(live);
        if (current > run_peak) {
          run_peak = current;
          run_rows = live;
        }
        for (auto& [id, model] : scopes) {
          if (current <= model.peak) continue;
          model.peak = current;
          model.at_peak = live;
        }
      }
      ASSERT_EQ(heap.Peak(), static_cast<uint64_t>(run_peak));
      ASSERT_EQ(heap.AtPeak(), run_rows) << "run " << run << " step " << step;
    }
  }
}

// Threads allocate while marks are made. The model knows the order of all events, and the least and
// most live bytes during a mark.
TEST(Segments, AreWithinTheirBoundWhileThreadsAllocate) {
  constexpr size_t kThreads = 3;
  Heap heap(kThreads);
  std::mutex mutex;  // over an event's entry into the word, not over its booking
  int64_t current = 0;
  std::vector<int64_t> history = {0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937_64 random(t);
      std::vector<std::pair<size_t, uint64_t>> blocks;
      while (!stop) {
        const bool frees = !blocks.empty() && random() % 100 < (blocks.size() > 200 ? 60 : 45);
        size_t site = random() % kSites;
        uint64_t bytes = random() % 1000;
        if (frees) {
          std::tie(site, bytes) = blocks.back();
          blocks.pop_back();
        } else {
          blocks.emplace_back(site, bytes);
        }
        uint64_t epoch;
        {
          const std::lock_guard lock(mutex);
          epoch = PeakTracker(heap.word()).Record(frees ? 0 : bytes, frees ? bytes : 0);
          current += static_cast<int64_t>(frees ? -bytes : bytes);
          history.push_back(current);
        }
        Book(heap.CellOf(t, site), epoch,
             frees ? CellChange{.freed_bytes = bytes, .freed_count = 1}
                   : CellChange{.allocated_bytes = bytes, .allocated_count = 1});
      }
    });
  }
  auto now = [&] {
    const std::lock_guard lock(mutex);
    return history.size() - 1;
  };
  int exact = 0;
  constexpr int kScopes = 400;
  for (int i = 0; i < kScopes; ++i) {
    const size_t begin_from = now();
    const ScopeId outer = heap.Begin();
    const size_t begin_to = now();
    const ScopeId inner = i % 2 == 0 ? heap.Begin() : 0;
    if (i % 4 == 0) std::this_thread::yield();
    if (inner != 0) {
      heap.Read(inner, true);
      heap.Release(inner);
    }
    const size_t end_from = now();
    const ScopeFigures figures = heap.Read(outer, true);
    const size_t end_to = now();
    {
      const std::lock_guard lock(mutex);
      auto range = [&](size_t from, size_t to) {
        return std::minmax_element(history.begin() + static_cast<ptrdiff_t>(from),
                                   history.begin() + static_cast<ptrdiff_t>(to) + 1);
      };
      const auto [least_start, most_start] = range(begin_from, begin_to);
      const auto [least_inside, most_inside] = range(begin_to, end_from);
      const auto [least_all, most_all] = range(begin_from, end_to);
      const auto [least_end, most_end] = range(end_from, end_to);
      const auto bound = static_cast<int64_t>(figures.bound_bytes);
      const int64_t growth = figures.peak_bytes - figures.start_bytes;
      EXPECT_GE(growth, *most_inside - *most_start - bound);
      EXPECT_LE(growth, *most_all - *least_start + bound);
      EXPECT_GE(figures.growth.bytes, *least_end - *most_start - bound);
      EXPECT_LE(figures.growth.bytes, *most_end - *least_start + bound);
    }
    EXPECT_EQ(Sum(heap.RowsOf(outer, ScopeOrder::kPeak)), figures.peak_bytes - figures.start_bytes);
    EXPECT_TRUE(figures.inexact || figures.bound_bytes == 0);
    exact += !figures.inexact;
    heap.Release(outer);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  // All is quiet: from here a scope is exact whatever was before.
  const ScopeId quiet = heap.Begin();
  EXPECT_FALSE(heap.Read(quiet, true).inexact);
  const auto peak = *std::max_element(history.begin(), history.end());
  EXPECT_EQ(heap.Peak(), static_cast<uint64_t>(peak));
  // Its rows: to within what the kept peak's mark said.
  const RegionHeader& header = heap.region().header();
  const int64_t bound =
      static_cast<int64_t>(header.kept_peaks[header.kept_generation % 2].bound_bytes);
  EXPECT_NEAR(
      static_cast<double>(Sum(heap.AtPeak())), static_cast<double>(peak),
      static_cast<double>(bound) + 1000.0 * kThreads);  // one event a thread may be in flight
  RecordProperty("exact", exact);
}

// A wait for the turn is limited, and on a busy machine it may end before a thread gets its turn: a
// program's scope is then inexact. Here every thread asks again until it gets it.
void InTurnOf(Segments& segments, const void* thread, const std::function<void()>& work) {
  while (true) {
    const Segments::Turn turn(segments, thread);
    if (!turn.mine()) continue;
    work();
    return;
  }
}

// Many threads with simultaneous scopes of their own: each has figures, in any nesting.
TEST(Segments, TakeTurns) {
  constexpr size_t kThreads = 4;
  Heap heap(kThreads);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 300; ++i) {
        ScopeId scope = 0;
        InTurnOf(heap.segments(), &i, [&] { scope = heap.segments().Begin({}, false); });
        ASSERT_NE(scope, 0u);
        heap.Event(t, t, 100, 0, 0, true, false);
        InTurnOf(heap.segments(), &i, [&] {
          ScopeFigures figures;
          ASSERT_TRUE(heap.segments().Read(scope, {}, true, &figures));
          EXPECT_GE(
              figures.peak_bytes - figures.start_bytes + static_cast<int64_t>(figures.bound_bytes),
              100);
          heap.segments().Release(scope);
        });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(heap.Peak(), 100u * 300 * kThreads);
}

TEST(Segments, GiveTheTurnOfAThreadThatIsGoneToOthers) {
  Heap heap;
  int gone = 0;
  const ScopeId scope = heap.Begin();
  {
    alignas(Segments::Turn) unsigned char memory[sizeof(Segments::Turn)];
    new (memory) Segments::Turn(heap.segments(), &gone);  // left: never destroyed
    heap.segments().Forget(&heap);                        // not that thread's
    heap.segments().Forget(&gone);
  }
  EXPECT_TRUE(heap.Read(scope, true).inexact);
}

}  // namespace
}  // namespace memprof
