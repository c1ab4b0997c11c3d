#include "aggregator/tables/thread_slot.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "aggregator/tables/shared_cells.h"
#include "aggregator/tables/slot_owners.h"
#include "core/protocol/cell_chunks.h"
#include "tests/aggregator/tables/test_region.h"

namespace memprof {
namespace {

TEST(ThreadSlot, GivesASiteOneCellAndOtherSitesOthers) {
  TestRegion region;
  auto slots = std::make_unique<SlotTable>();
  ThreadSlot* slot = slots->Acquire(1);
  SlotCells slot_cells(region.get());
  ASSERT_TRUE(slot_cells.Init());
  std::set<uint32_t> cells;
  for (uint32_t site = 0; site < 5000; ++site) cells.insert(slot_cells.Find(*slot, site));
  EXPECT_EQ(cells.size(), 5000u);
  for (uint32_t site = 0; site < 5000; ++site) {
    const uint32_t cell = slot_cells.Find(*slot, site);
    ASSERT_EQ(CellAt(region.get(), cell).site_plus_one, site + 1);
    ASSERT_TRUE(slot_cells.Owns(*slot, cell));
  }
}

TEST(SlotTable, HandsAnEndedThreadsCellsToTheNextOne) {
  TestRegion region;
  auto slots = std::make_unique<SlotTable>();
  ThreadSlot* first = slots->Acquire(1);
  SlotCells slot_cells(region.get());
  ASSERT_TRUE(slot_cells.Init());
  const uint32_t cell = slot_cells.Find(*first, 3);
  slots->Release(first);
  ThreadSlot* second = slots->Acquire(2);
  EXPECT_EQ(second, first);
  EXPECT_EQ(slot_cells.Find(*second, 3), cell);
}

TEST(SlotTable, KeepsLiveThreadsApartAndEndsAt1024) {
  auto slots = std::make_unique<SlotTable>();
  std::set<ThreadSlot*> taken;
  // Tids above the kernel's limit: no such thread lives, but these slots were never reclaimed.
  for (uint32_t i = 0; i < kMaxSlots; ++i) taken.insert(slots->Acquire(0x7fff0000u + i));
  EXPECT_EQ(taken.size(), kMaxSlots);
  EXPECT_FALSE(taken.contains(nullptr));
  EXPECT_NE(slots->Acquire(1), nullptr) << "owners that are dead give up their slots";
}

TEST(SlotTable, GivesNothingWhileAllItsThreadsLive) {
  auto slots = std::make_unique<SlotTable>();
  const auto self = static_cast<uint32_t>(gettid());
  for (uint32_t i = 0; i < kMaxSlots; ++i) ASSERT_NE(slots->Acquire(self), nullptr);
  EXPECT_EQ(slots->Acquire(self), nullptr);
  EXPECT_EQ(slots->count(), kMaxSlots);
}

TEST(SlotTable, FindsTheOneDeadThreadAfterAFewTries) {
  auto slots = std::make_unique<SlotTable>();
  const auto self = static_cast<uint32_t>(gettid());
  std::vector<ThreadSlot*> taken;
  for (uint32_t i = 0; i < kMaxSlots; ++i) {
    taken.push_back(slots->Acquire(i == 700 ? 0x7fff0000u : self));
  }
  ThreadSlot* found = nullptr;
  for (int tries = 0; tries < 32 && found == nullptr; ++tries) found = slots->Acquire(self);
  EXPECT_EQ(found, taken[700]);
}

TEST(SlotTable, AsksForNoOwnerBehindAFilter) {
  auto slots = std::make_unique<SlotTable>();
  for (uint32_t i = 0; i < kMaxSlots; ++i) slots->Acquire(0x7fff0000u + i);
  EXPECT_EQ(slots->Acquire(kUnknownOwner), nullptr);
}

TEST(SlotTable, GivesOneSlotToOneOfManyThreads) {
  auto slots = std::make_unique<SlotTable>();
  std::atomic<int> doubled{0};
  std::vector<std::thread> threads;
  for (uint32_t t = 1; t <= 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20000; ++i) {
        ThreadSlot* slot = slots->Acquire(t);
        if (slot->chunk_used != 0) ++doubled;  // somebody else is in it
        slot->chunk_used = 1;
        slot->chunk_used = 0;
        slots->Release(slot);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(doubled, 0);
}

TEST(SlotOwners, TellTheReaderWhoHasASlotAndHowOftenItWasTaken) {
  TestRegion test;
  const Region& region = test.get();
  auto slots = std::make_unique<SlotTable>();
  slots->Acquire(7);
  ThreadSlot* slot = slots->Acquire(8);
  EXPECT_EQ(slot->number, 1u);
  const SlotRecord& record = RecordOf(region, *slot);
  NoteTaken(region, *slot);
  EXPECT_EQ(record.owner, kUnknownOwner) << "it isn't certain yet that its end will be seen";
  EXPECT_EQ(record.taken, 1u);
  NoteOwner(region, *slot);
  EXPECT_EQ(record.owner, 8u);
  NoteEnded(region, *slot);
  slots->Release(slot);
  EXPECT_EQ(record.owner, 0u);
  ASSERT_EQ(slots->Acquire(9), slot);
  NoteTaken(region, *slot);
  EXPECT_EQ(record.taken, 2u);
  EXPECT_EQ(RecordOf(region, *slots->Acquire(10)).taken, 0u);
}

TEST(SlotOwners, NeverCountBackToOne) {
  TestRegion test;
  auto slots = std::make_unique<SlotTable>();
  ThreadSlot* slot = slots->Acquire(8);
  RecordOf(test.get(), *slot).taken = UINT32_MAX;
  NoteTaken(test.get(), *slot);
  NoteTaken(test.get(), *slot);
  EXPECT_EQ(RecordOf(test.get(), *slot).taken, UINT32_MAX);
}

TEST(SlotCells, TellTheReaderWhoseAChunkIs) {
  TestRegion test;
  const Region& region = test.get();
  auto slots = std::make_unique<SlotTable>();
  SlotCells slot_cells(region);
  ASSERT_TRUE(slot_cells.Init());
  const auto* owners = region.Records<std::atomic<uint32_t>>(Table::kChunkOwners);
  ThreadSlot* both[] = {slots->Acquire(7), slots->Acquire(8)};
  for (uint32_t site = 0; site < 200; ++site) {
    for (ThreadSlot* slot : both) {
      const uint32_t chunk = slot_cells.Find(*slot, site) / kCellsPerChunk;
      ASSERT_EQ(owners[chunk], slot->number + 1);
    }
  }
}

// Four threads that come and go, and a reader.
TEST(SlotOwners, ArePublishedBeforeTheCellsOfANewOwner) {
  TestRegion test;
  const Region& region = test.get();
  auto slots = std::make_unique<SlotTable>();
  SlotCells slot_cells(region);
  ASSERT_TRUE(slot_cells.Init());
  constexpr uint32_t kThreads = 4;
  constexpr uint32_t kTurns = 2000;
  std::atomic<uint32_t> running{kThreads};
  std::vector<std::thread> threads;
  for (uint32_t t = 1; t <= kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (uint32_t i = 0; i < kTurns; ++i) {
        ThreadSlot* slot = slots->Acquire(t);
        NoteTaken(region, *slot);
        NoteOwner(region, *slot);
        Cell& cell = CellAt(region, slot_cells.Find(*slot, i % 8));
        cell.allocated_count.store(cell.allocated_count.load(std::memory_order_relaxed) + 1,
                                   std::memory_order_release);
        NoteEnded(region, *slot);
        slots->Release(slot);
      }
      --running;
    });
  }
  const auto* owners = region.Records<std::atomic<uint32_t>>(Table::kChunkOwners);
  const auto* records = region.Records<SlotRecord>(Table::kSlots);
  uint32_t nameless = 0;
  while (running != 0) {
    for (uint32_t chunk = 0; chunk < region.count(Table::kCellChunks); ++chunk) {
      if (CellAt(region, chunk * kCellsPerChunk).site_plus_one.load(std::memory_order_acquire) ==
          0) {
        continue;
      }
      const uint32_t slot_plus_one = owners[chunk].load(std::memory_order_relaxed);
      nameless += slot_plus_one == 0 || slot_plus_one > kThreads ||
                  records[slot_plus_one - 1].taken.load(std::memory_order_relaxed) == 0;
    }
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(nameless, 0u);
  uint32_t taken = 0;
  for (uint32_t i = 0; i < kThreads; ++i) {
    EXPECT_EQ(records[i].owner, 0u);
    taken += records[i].taken;
  }
  EXPECT_EQ(taken, kThreads * kTurns);
}

TEST(SharedCells, GiveManyThreadsOneCellASite) {
  TestRegion region;
  for (uint32_t i = 0; i < 200; ++i) {
    ASSERT_TRUE(KeepSharedCell(region.get(), region.get().Take(Table::kSites)));
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (uint32_t site = 0; site < 200; ++site) {
        CellAt(region.get(), SharedCell(region.get(), site)).allocated_count.fetch_add(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (uint32_t site = 0; site < 200; ++site) {
    const Cell& cell = CellAt(region.get(), SharedCell(region.get(), site));
    EXPECT_EQ(cell.allocated_count, 4u);
    EXPECT_EQ(cell.site_plus_one, site + 1);
  }
}

// Four threads, two of them for slots and two for sites, until nothing is left.
TEST(SharedCells, AreKeptForEverySiteThatThereIsHoweverManyCellsThreadsTake) {
  TestRegion test(1 << 20);
  Region& region = test.get();
  const uint32_t capacity = region.capacity(Table::kCellChunks);
  std::atomic<uint32_t> taken{0};
  std::atomic<uint32_t> kept{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      for (uint32_t chunk; (chunk = TakeOwnChunk(region)) != kNoRecord;) {
        region.cells()[chunk * kCellsPerChunk].allocated_count.fetch_add(1);
        ++taken;
      }
    });
    threads.emplace_back([&] {
      for (;;) {
        const uint32_t site = region.Take(Table::kSites);
        if (site == kNoRecord || !KeepSharedCell(region, site)) return;
        CellAt(region, SharedCell(region, site)).freed_count.fetch_add(1);
        ++kept;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const ChunkUse use = UnpackChunkUse(region.header().chunk_use);
  EXPECT_EQ(use.own, taken);
  EXPECT_EQ(use.own, region.count(Table::kCellChunks));
  EXPECT_LE(use.own + use.groups, capacity);
  EXPECT_LE(kept, use.groups * kCellsPerChunk);
  // No chunk is of both kinds, and none is a slot's twice.
  for (uint32_t chunk = 0; chunk < capacity; ++chunk) {
    const Cell& cell = region.cells()[chunk * kCellsPerChunk];
    ASSERT_EQ(cell.allocated_count, chunk < use.own ? 1u : 0u) << chunk;
    ASSERT_TRUE(chunk >= use.own || cell.freed_count == 0) << chunk;
  }
  uint64_t frees = 0;
  VisitChunksInUse(use.own, capacity, region.Records<std::atomic<uint64_t>>(Table::kSharedGroups),
                   region.capacity(Table::kSharedGroups), [&](uint32_t first, uint32_t chunks) {
                     for (uint32_t i = 0; i < chunks * kCellsPerChunk; ++i) {
                       frees += region.cells()[first * kCellsPerChunk + i].freed_count;
                     }
                   });
  EXPECT_EQ(frees, kept);
}

TEST(VisitChunksInUse, NamesNoChunkTwiceAndNoneBeyondTheTable) {
  const std::atomic<uint64_t> words[] = {~uint64_t{0}, ~uint64_t{0}};
  std::vector<uint32_t> seen(10, 0);
  VisitChunksInUse(4, 10, words, 2, [&](uint32_t first, uint32_t chunks) {
    for (uint32_t i = first; i < first + chunks; ++i) ++seen.at(i);
  });
  EXPECT_EQ(seen, std::vector<uint32_t>(10, 1));
}

// RLIMIT_DATA refuses memory that is to be written, not address space.
TEST(NewVerifiedStacks, KeepsNothingOfWhatItCanNotUse) {
  const auto mapped_pages = [] {
    unsigned long pages = 0;
    const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    char text[128] = {};
    if (read(file, text, sizeof text - 1) > 0) pages = strtoul(text, nullptr, 10);
    close(file);
    return pages;
  };
  rlimit limit;
  ASSERT_EQ(getrlimit(RLIMIT_DATA, &limit), 0);
  const rlimit none = {1, limit.rlim_max};  // 0 is no limit at all
  ASSERT_EQ(setrlimit(RLIMIT_DATA, &none), 0);
  const unsigned long before = mapped_pages();
  errno = 7;
  const VerifiedStacks* const stacks = NewVerifiedStacks();
  const int error = errno;
  const unsigned long after = mapped_pages();
  ASSERT_EQ(setrlimit(RLIMIT_DATA, &limit), 0);
  EXPECT_EQ(stacks, nullptr);
  EXPECT_EQ(error, 7);
  EXPECT_EQ(after, before);
  EXPECT_NE(NewVerifiedStacks(), nullptr);
}

}  // namespace
}  // namespace memprof
