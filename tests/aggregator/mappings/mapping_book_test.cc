#include "aggregator/mappings/mapping_book.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "aggregator/mappings/mapping_queue.h"
#include "tests/aggregator/tables/test_region.h"

namespace memprof {
namespace {

constexpr uint64_t kPage = 4096;

struct Figures {
  uint64_t bytes = 0;
  uint64_t count = 0;
  friend bool operator==(const Figures&, const Figures&) = default;
};
using Key = std::pair<uint32_t, bool>;  // site, reserved
using Rows = std::map<Key, Figures>;

// A book of its own, and events in words of pages.
class Book {
 public:
  explicit Book(uint64_t budget = 8 << 20) : region_(budget), book_(region_.get()) {
    book_.UseMemory(index_.data());
  }

  void Map(uint64_t page, uint64_t pages, uint32_t site, bool reserved = false) {
    MappingEvent event;
    event.what.reserved = reserved;
    event.start = page * kPage;
    event.end = (page + pages) * kPage;
    event.stamp = ++stamp_;
    event.site = site;
    book_.Book(event);
  }
  void Unmap(uint64_t page, uint64_t pages) { UnmapAt(page, pages, ++stamp_); }
  void UnmapAt(uint64_t page, uint64_t pages, uint64_t stamp) {
    MappingEvent event;
    event.kind = MappingEvent::Kind::kUnmap;
    event.from = page * kPage;
    event.from_end = (page + pages) * kPage;
    event.from_stamp = stamp;
    book_.Book(event);
  }
  void Protect(uint64_t page, uint64_t pages, bool reserved) {
    MappingEvent event;
    event.kind = MappingEvent::Kind::kProtect;
    event.what.reserved = reserved;
    event.from = page * kPage;
    event.from_end = (page + pages) * kPage;
    event.from_stamp = ++stamp_;
    book_.Book(event);
  }
  void Move(uint64_t from, uint64_t from_pages, uint64_t to, uint64_t to_pages, uint32_t site) {
    MappingEvent event;
    event.kind = MappingEvent::Kind::kMove;
    event.from = from * kPage;
    event.from_end = (from + from_pages) * kPage;
    event.from_stamp = ++stamp_;
    event.start = to * kPage;
    event.end = (to + to_pages) * kPage;
    event.stamp = ++stamp_;
    event.site = site;
    book_.Book(event);
  }
  uint64_t stamp() const { return stamp_; }
  uint64_t NextStamp() { return ++stamp_; }

  enum class Of { kLive, kPeak, kTotal };
  Rows Read(Of of) {
    Rows rows;
    const MappingTotals& totals = region_.get().header().mappings;
    const auto* records = region_.get().Records<MappingSiteRecord>(Table::kMappingSites);
    for (uint32_t i = 0; i < region_.get().count(Table::kMappingSites); ++i) {
      const MappingSiteRecord& r = records[i];
      const bool kept = of == Of::kPeak && totals.armed == 0 && r.epoch == totals.epoch;
      const Figures figures = of == Of::kTotal ? Figures{r.total_bytes, r.total_count}
                              : kept           ? Figures{r.peak_bytes, r.peak_count}
                                               : Figures{r.live_bytes, r.live_count};
      const Key key = {r.site_plus_one - 1, UnpackMappingWhat(r.what).reserved};
      if (figures != Figures()) rows[key] = figures;
    }
    return rows;
  }
  Rows Live() { return Read(Of::kLive); }
  Rows Peak() { return Read(Of::kPeak); }
  Rows Total() { return Read(Of::kTotal); }
  uint64_t PeakBytes() { return region_.get().header().mappings.peak_bytes; }
  uint64_t MappedBytes() { return region_.get().header().mappings.mapped_bytes; }
  uint64_t Lost() { return region_.get().header().mappings.lost; }
  Region& region() { return region_.get(); }
  MappingBook& book() { return book_; }

 private:
  TestRegion region_;
  std::vector<uint32_t> index_ = std::vector<uint32_t>(MappingBook::kIndexBytes / 4);
  MappingBook book_;
  uint64_t stamp_ = 0;
};

// The same, naively: an owner for each page.
class Model {
 public:
  struct Owner {
    uint64_t mapping = 0;  // 0: none
    uint32_t site = 0;
    bool reserved = false;
  };
  explicit Model(size_t pages) : pages_(pages) {}

  void Map(size_t page, size_t count, uint32_t site, bool reserved) {
    Put(page, count, {++mappings_, site, reserved});
    Done();
  }
  void Unmap(size_t page, size_t count) {
    for (size_t i = page; i < page + count; ++i) pages_[i] = {};
    Done();
  }
  void Protect(size_t page, size_t count, bool reserved) {
    uint64_t old = 0;
    for (size_t i = page; i < page + count; ++i) {
      Owner& owner = pages_[i];
      if (owner.mapping == 0 || owner.reserved == reserved) continue;
      if (owner.mapping != old) {
        old = owner.mapping;
        ++mappings_;
        ++total_[{owner.site, reserved}].count;
      }
      owner = {mappings_, owner.site, reserved};
      total_[{owner.site, reserved}].bytes += kPage;
    }
    Done();
  }
  void Move(size_t from, size_t from_count, size_t to, size_t to_count, uint32_t site) {
    const bool reserved = pages_[from].mapping != 0 && pages_[from].reserved;
    for (size_t i = from; i < from + from_count; ++i) pages_[i] = {};
    Put(to, to_count, {++mappings_, site, reserved});
    Done();
  }

  Rows Live() const {
    Rows rows;
    std::set<uint64_t> seen;
    for (const Owner& owner : pages_) {
      if (owner.mapping == 0) continue;
      Figures& row = rows[{owner.site, owner.reserved}];
      row.bytes += kPage;
      row.count += seen.insert(owner.mapping).second;
    }
    return rows;
  }
  const Rows& Peak() const { return peak_rows_; }
  const Rows& Total() const { return total_; }
  uint64_t PeakBytes() const { return peak_; }

 private:
  void Put(size_t page, size_t count, const Owner& owner) {
    for (size_t i = page; i < page + count; ++i) pages_[i] = owner;
    Figures& row = total_[{owner.site, owner.reserved}];
    row.bytes += count * kPage;
    ++row.count;
  }
  void Done() {
    uint64_t mapped = 0;
    const Rows live = Live();
    for (const auto& [key, figures] : live) mapped += key.second ? 0 : figures.bytes;
    if (mapped <= peak_) return;
    peak_ = mapped;
    peak_rows_ = live;
  }

  std::vector<Owner> pages_;
  uint64_t mappings_ = 0;
  uint64_t peak_ = 0;
  Rows peak_rows_, total_;
};

TEST(MappingBook, KnowsWhatIsLeftOfAMappingOfWhichAPartIsGone) {
  Book book;
  book.Map(10, 10, 1);
  book.Unmap(13, 2);
  EXPECT_EQ(book.Live(), (Rows{{{1, false}, {8 * kPage, 1}}}));
  book.Unmap(10, 3);
  EXPECT_EQ(book.Live(), (Rows{{{1, false}, {5 * kPage, 1}}}));
  book.Unmap(0, 100);
  EXPECT_EQ(book.Live(), Rows());
  EXPECT_EQ(book.Peak(), (Rows{{{1, false}, {10 * kPage, 1}}}));
}

TEST(MappingBook, GivesWhatIsMappedOverAnotherMappingToTheNewOne) {
  Book book;
  book.Map(10, 10, 1);
  book.Map(12, 4, 2);
  EXPECT_EQ(book.Live(), (Rows{{{1, false}, {6 * kPage, 1}}, {{2, false}, {4 * kPage, 1}}}));
  EXPECT_EQ(book.PeakBytes(), 10 * kPage) << "never both";
}

TEST(MappingBook, CountsAMoveAsOneEvent) {
  Book book;
  book.Map(10, 10, 1);
  book.Move(10, 10, 50, 12, 2);
  EXPECT_EQ(book.Live(), (Rows{{{2, false}, {12 * kPage, 1}}}));
  EXPECT_EQ(book.PeakBytes(), 12 * kPage);
  book.Move(50, 12, 50, 20, 3);
  EXPECT_EQ(book.Live(), (Rows{{{3, false}, {20 * kPage, 1}}}));
}

TEST(MappingBook, KeepsReservationsOutOfWhatIsMapped) {
  Book book;
  book.Map(10, 100, 1, true);
  EXPECT_EQ(book.MappedBytes(), 0u);
  book.Protect(20, 5, false);
  EXPECT_EQ(book.MappedBytes(), 5 * kPage);
  EXPECT_EQ(book.Live(), (Rows{{{1, true}, {95 * kPage, 1}}, {{1, false}, {5 * kPage, 1}}}));
  book.Protect(0, 200, true);
  EXPECT_EQ(book.Live(), (Rows{{{1, true}, {100 * kPage, 2}}}));
}

TEST(MappingBook, LeavesAloneWhatIsNewerThanAnUnmapThatIsBookedLate) {
  Book book;
  book.Map(10, 10, 1);
  const uint64_t before = book.NextStamp();
  book.Map(15, 5, 2);
  book.UnmapAt(10, 10, before);
  EXPECT_EQ(book.Live(), (Rows{{{2, false}, {5 * kPage, 1}}}));
}

TEST(MappingBook, LosesWhatThereIsNoRoomForAndSaysSo) {
  Book book(1 << 20);
  const uint32_t room = book.region().capacity(Table::kMappedRanges);
  for (uint32_t i = 0; i < room + 5; ++i) book.Map(2 * i, 1, 1);
  EXPECT_EQ(book.Lost(), 5u + 2u) << "a mapping is lost when it might have to cut two";
  EXPECT_EQ(book.Live(), (Rows{{{1, false}, {(room - 2) * kPage, room - 2}}}));
  book.Unmap(0, 1);
  book.Unmap(2, 1);
  EXPECT_EQ(book.Live(), (Rows{{{1, false}, {(room - 4) * kPage, room - 4}}}));
}

TEST(MappingBook, NamesEachFileOnce) {
  Book book;
  for (int i = 0; i < 3; ++i) {
    MappingEvent event;
    event.what.kind = MappingKind::kFile;
    event.start = static_cast<uint64_t>(i + 1) * kPage;
    event.end = event.start + kPage;
    event.stamp = book.NextStamp();
    event.site = 1;
    const std::string name = i == 1 ? "/b" : "/a";
    std::memcpy(event.file, name.data(), name.size());
    event.file_bytes = static_cast<uint32_t>(name.size());
    book.book().Book(event);
  }
  EXPECT_EQ(book.region().count(Table::kMappedFiles), 2u);
  EXPECT_EQ(book.region().count(Table::kMappingSites), 2u);
}

TEST(MappingBook, AgreesWithAModelOfPagesWhateverHappens) {
  for (const uint32_t seed : {1u, 2u, 3u, 4u}) {
    constexpr size_t kPages = 200;
    std::mt19937 random(seed);
    auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
    Book book;
    Model model(kPages);
    for (int i = 0; i < 4000; ++i) {
      const size_t page = below(kPages), count = 1 + below(std::min<size_t>(kPages - page, 30));
      const auto site = static_cast<uint32_t>(1 + below(5));
      switch (below(5)) {
        case 0:
        case 1: {
          const bool reserved = below(3) == 0;
          book.Map(page, count, site, reserved);
          model.Map(page, count, site, reserved);
          break;
        }
        case 2:
          book.Unmap(page, count);
          model.Unmap(page, count);
          break;
        case 3: {
          const bool reserved = below(2) == 0;
          book.Protect(page, count, reserved);
          model.Protect(page, count, reserved);
          break;
        }
        default: {
          const size_t to = below(kPages), to_count = 1 + below(std::min<size_t>(kPages - to, 30));
          book.Move(page, count, to, to_count, site);
          model.Move(page, count, to, to_count, site);
        }
      }
      ASSERT_EQ(book.Live(), model.Live()) << "seed " << seed << ", event " << i;
      ASSERT_EQ(book.Peak(), model.Peak()) << "seed " << seed << ", event " << i;
      ASSERT_EQ(book.PeakBytes(), model.PeakBytes());
    }
    EXPECT_EQ(book.Total(), model.Total());
    EXPECT_EQ(book.Lost(), 0u);
  }
}

TEST(MappingQueue, BooksWhatManyThreadsEnterAtOnce) {
  TestRegion region;
  MappingBook book(region.get());
  MappingQueue queue(region.get(), book);
  ASSERT_TRUE(queue.Init());
  constexpr uint32_t kThreads = 4, kRounds = 5000;
  // Each thread takes ranges that the others give back: an address has one owner at a time.
  std::atomic<uint64_t> free_pages{~uint64_t{0}};
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      uint64_t held = 0;
      for (uint32_t i = 0; i < kRounds; ++i) {
        uint64_t all = free_pages.load();
        const auto page = static_cast<uint64_t>(__builtin_ctzll(all | 1ull << 63));
        if (all == 0 || !free_pages.compare_exchange_strong(all, all & ~(1ull << page))) continue;
        MappingEvent map;
        map.start = (page + 1) * kPage;
        map.end = map.start + kPage;
        map.site = t + 1;
        map.stamp = queue.Stamp();
        queue.Enter(map);
        held = page;
        if (i + 1 == kRounds) break;
        MappingEvent unmap;
        unmap.kind = MappingEvent::Kind::kUnmap;
        unmap.from = map.start;
        unmap.from_end = map.end;
        unmap.from_stamp = queue.Stamp();
        free_pages.fetch_or(1ull << held);  // the kernel's part: from now on others may get it
        queue.Enter(unmap);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const MappingTotals& totals = region.get().header().mappings;
  EXPECT_EQ(totals.booked, totals.events);
  EXPECT_EQ(totals.lost + totals.unentered, 0u);
  const auto held = static_cast<uint64_t>(64 - __builtin_popcountll(free_pages));
  EXPECT_EQ(totals.mapped_bytes, held * kPage);
  uint64_t live = 0;
  const auto* sites = region.get().Records<MappingSiteRecord>(Table::kMappingSites);
  for (uint32_t i = 0; i < region.get().count(Table::kMappingSites); ++i) {
    live += sites[i].live_bytes;
  }
  EXPECT_EQ(live, totals.mapped_bytes);
}

}  // namespace
}  // namespace memprof
