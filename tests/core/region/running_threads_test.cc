// Which leaks are of threads that still ran at the end, by regions that are written by hand.
#include "core/region/running_threads.h"

#include <gtest/gtest.h>

#include "core/protocol/children_area.h"
#include "core/region/region_reader.h"
#include "tests/core/region/made_region.h"

namespace memprof {
namespace {

constexpr uint32_t kPid = 4711;

// Each chunk of cells is a slot's; the cells of chunk n are n * kCellsPerChunk and on.
class RunningThreads : public testing::TestWithParam<MadeRegion::Kind> {
 protected:
  void SetUp() override {
    region_.header().pid = kPid;
    for (uint32_t i = 0; i < 8; ++i) site_[i] = region_.Site(region_.Node(0, 0x5000 + i));
    region_.SetPeak({0, 1000, 1, true});
  }

  void Slot(uint32_t number, uint32_t owner, uint32_t taken, uint32_t chunk) {
    auto& record = region_.At<SlotRecord>(Table::kSlots, number);
    record.owner = owner;
    record.taken = taken;
    OwnerOf(chunk) = number + 1;
    if (region_.count(Table::kCellChunks) <= chunk) region_.count(Table::kCellChunks) = chunk + 1;
  }
  uint32_t& OwnerOf(uint32_t chunk) { return region_.At<uint32_t>(Table::kChunkOwners, chunk); }

  void Fill(uint32_t chunk, uint32_t site, uint64_t allocated, uint64_t freed) {
    Cell& cell = region_.At<CellChunk>(Table::kCellChunks, chunk).cells[site];
    cell.site_plus_one = site_[site] + 1;
    cell.allocated_bytes = 10 * allocated;
    cell.allocated_count = allocated;
    cell.freed_bytes = 10 * freed;
    cell.freed_count = freed;
  }

  // The sites, as digits, whose leaks are of running threads.
  std::string Found(EndKind end = EndKind::kExit) {
    SnapshotProgram program;
    program.end_kind = end;
    const Result<Snapshot> read = ReadRegion(region_.fd(), program);
    EXPECT_TRUE(read.has_value()) << read.error().message;
    std::string found;
    for (uint32_t i = 0; i < 8; ++i) {
      for (const SnapshotSite& site : read->sites) {
        const SnapshotFrame& frame = read->frames[read->nodes[site.node].frame];
        if (site.of_running_threads && frame.offset == 0x5000 + i) found += std::to_string(i);
      }
    }
    return found;
  }

  MadeRegion region_{GetParam()};
  uint32_t site_[8] = {};
};
INSTANTIATE_TEST_SUITE_P(Kinds, RunningThreads,
                         testing::Values(MadeRegion::Kind::kMemory, MadeRegion::Kind::kFile),
                         [](const auto& kind) {
                           return kind.param == MadeRegion::Kind::kMemory ? "InMemory" : "InAFile";
                         });

TEST_P(RunningThreads, HoldWhatTheyAloneAllocated) {
  Slot(0, kPid, 1, 0);           // main
  Slot(1, kPid + 1, 1, 1);       // alive
  Slot(2, kPid + 2, 1, 2);       // alive
  Slot(3, 0, 1, 3);              // ended
  Slot(4, kPid + 3, 2, 4);       // alive, after another thread
  Slot(5, kUnknownOwner, 1, 5);  // alive or not
  for (uint32_t site = 0; site < 6; ++site) Fill(site, site, 2, 1);
  EXPECT_EQ(Found(), "12");
}

TEST_P(RunningThreads, DontHoldASiteAtWhichOthersAllocated) {
  Slot(0, kPid, 1, 0);
  Slot(1, kPid + 1, 1, 1);
  Slot(2, kPid + 2, 1, 2);
  Fill(1, 0, 5, 0);
  Fill(2, 0, 5, 0);  // alive, too
  Fill(1, 1, 5, 0);
  Fill(0, 1, 1, 1);  // main had a block there, and freed it or another one
  Fill(1, 2, 5, 0);
  Fill(0, 2, 0, 3);  // main freed some
  Fill(1, 3, 5, 5);  // nothing is left
  EXPECT_EQ(Found(), "02");
}

TEST_P(RunningThreads, DontHoldWhatASharedCellHas) {
  Slot(1, kPid + 1, 1, 0);
  Fill(0, 0, 5, 0);
  Fill(0, 1, 5, 0);
  region_.SharedCell(site_[0]).freed_count = 1;
  region_.SharedCell(site_[1]).allocated_count = 1;
  EXPECT_EQ(Found(), "0");
}

TEST_P(RunningThreads, AreNotKnownBeforeTheEndOrWithoutAPid) {
  Slot(1, kPid + 1, 1, 0);
  Fill(0, 0, 5, 0);
  EXPECT_EQ(Found(EndKind::kSignal), "0");
  EXPECT_EQ(Found(EndKind::kEnded), "0");
  EXPECT_EQ(Found(EndKind::kRunning), "");
  EXPECT_EQ(Found(EndKind::kCut), "");
  for (const uint32_t pid : {uint32_t{0}, kUnknownPid}) {
    region_.header().pid = pid;
    EXPECT_EQ(Found(), "") << pid;
  }
}

TEST_P(RunningThreads, AreNotKnownWithSamplesOrAfterTheTrackerGaveUp) {
  Slot(1, kPid + 1, 1, 0);
  Fill(0, 0, 5, 0);
  region_.header().options.sample_bytes = 512;
  EXPECT_EQ(Found(), "");
  region_.header().options.sample_bytes = 0;
  region_.header().stop_reason = 1;
  EXPECT_EQ(Found(), "");
}

// Nothing outside the tables is read, and a chunk without an owner is nobody's.
TEST_P(RunningThreads, AreNotMadeByNumbersOutOfRange) {
  Slot(1, kPid + 1, 1, 0);
  Fill(0, 0, 5, 0);
  for (const uint32_t owner : {0u, kMaxSlots + 1, 0x80000000u, 0xffffffffu}) {
    OwnerOf(0) = owner;
    EXPECT_EQ(Found(), "") << owner;
  }
  OwnerOf(0) = 2;
  region_.At<SlotRecord>(Table::kSlots, 1).taken = 0;
  EXPECT_EQ(Found(), "") << "a slot that nobody took";
  region_.At<SlotRecord>(Table::kSlots, 1).taken = 1;
  region_.count(Table::kSlots) = 0xffffffff;
  region_.count(Table::kChunkOwners) = 0xffffffff;
  region_.count(Table::kCellChunks) = 0xffffffff;
  EXPECT_EQ(Found(), "0");
}

// The tables of the slots are smaller than others say.
TEST_P(RunningThreads, AreReadByTheCapacityThatWasChecked) {
  Slot(1, kPid + 1, 1, 0);
  Fill(0, 0, 5, 0);
  region_.header().tables[static_cast<size_t>(Table::kSlots)].capacity = 1;
  EXPECT_EQ(Found(), "");
  region_.header().tables[static_cast<size_t>(Table::kSlots)].capacity = kMaxSlots;
  region_.header().tables[static_cast<size_t>(Table::kChunkOwners)].capacity = 0;
  EXPECT_EQ(Found(), "");
}

}  // namespace
}  // namespace memprof
