// The results of marks in a region: the peak of an ended segment, and named moments.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <thread>

#include "core/region/region_reader.h"
#include "tests/core/region/made_region.h"

namespace memprof {
namespace {

class RegionOfMarks : public testing::TestWithParam<MadeRegion::Kind> {
 protected:
  RegionOfMarks() : region_(GetParam()) {
    const uint32_t module = region_.Module("/bin/program", 0x10000);
    for (uint64_t i = 0; i < 3; ++i) sites_[i] = region_.Site(region_.Node(0, 0x10100 + i, module));
    region_.count(Table::kPeakRows) = 1;
  }

  // Sets the live bytes of the n-th site.
  void Live(size_t n, uint64_t bytes) {
    Cell& cell = region_.NewCell(sites_[n]);
    cell.allocated_bytes = bytes;
    cell.allocated_count = 1;
  }
  void KeptRow(uint32_t half, size_t n, int64_t bytes) {
    const uint32_t rows = region_.header().tables[static_cast<size_t>(Table::kPeakRows)].capacity;
    auto& row = region_.At<PeakRow>(Table::kPeakRows, half * (rows / 2) + sites_[n]);
    row.bytes = bytes;
    row.count = 1;
  }
  void Keep(uint32_t generation, uint64_t peak, uint64_t bound = 0, uint32_t sites = 3) {
    KeptPeak& kept = region_.header().kept_peaks[generation % 2];
    kept.peak = peak;
    kept.bound_bytes = bound;
    kept.sites = sites;
    region_.header().kept_generation = generation;
  }
  NamedMomentRecord& Named(const char* name, uint64_t time_ms) {
    auto& record =
        region_.At<NamedMomentRecord>(Table::kNamedMoments, region_.count(Table::kNamedMoments)++);
    std::string(name).copy(record.name, sizeof record.name - 1);
    record.time_ns = time_ms * 1000000;
    record.sequence = 2;
    record.first_row = region_.count(Table::kNamedMomentRows).load();
    return record;
  }
  void NamedRow(NamedMomentRecord& record, uint32_t site, uint64_t bytes) {
    region_.At<NamedMomentRow>(Table::kNamedMomentRows,
                               region_.count(Table::kNamedMomentRows)++) = {site, 1, bytes};
    ++record.rows;
  }
  Snapshot Read() {
    const Result<Snapshot> snapshot = ReadRegion(region_.fd(), {});
    EXPECT_TRUE(snapshot) << (snapshot ? "" : snapshot.error().message);
    return snapshot ? *snapshot : Snapshot();
  }
  // The sum over all sites in the n-th named moment.
  static uint64_t LiveIn(const Snapshot& snapshot, uint32_t n) {
    uint64_t bytes = 0;
    for (const SnapshotSite& site : snapshot.sites) bytes += LiveAt(site.named, n).bytes;
    return bytes;
  }

  MadeRegion region_;
  uint32_t sites_[3];
};

INSTANTIATE_TEST_SUITE_P(Kinds, RegionOfMarks,
                         testing::Values(MadeRegion::Kind::kMemory, MadeRegion::Kind::kFile),
                         [](const auto& kind) {
                           return kind.param == MadeRegion::Kind::kMemory ? "InPlace" : "Copied";
                         });

TEST_P(RegionOfMarks, HasTheRowsOfAHigherSegmentThatEnded) {
  Live(0, 10);
  region_.SetPeak({10, 40, 5, false});
  KeptRow(1, 1, 60);
  KeptRow(1, 2, 15);
  Keep(1, 75);
  const Snapshot snapshot = Read();
  EXPECT_EQ(SumPeak(snapshot), (Count{75, 2}));
  EXPECT_EQ(SumLeaked(snapshot), (Count{10, 1}));
  EXPECT_EQ(snapshot.tracker.counter_peak_bytes, 75u);
  EXPECT_EQ(snapshot.tracker.peak_bound_bytes, 0u);
  EXPECT_FALSE(snapshot.tracker.inexact_read);
  EXPECT_EQ(ReadPeak(region_.fd())->peak, 75u);
  EXPECT_EQ(ReadPeak(region_.fd())->current, 10);
}

TEST_P(RegionOfMarks, HasTheNewestSegmentsRowsWhereThatIsHigher) {
  Live(0, 80);
  region_.SetPeak({80, 80, 5, true});
  KeptRow(0, 1, 75);
  Keep(2, 75);
  EXPECT_EQ(SumPeak(Read()), (Count{80, 1}));
  EXPECT_EQ(ReadPeak(region_.fd())->peak, 80u);
}

TEST_P(RegionOfMarks, TakesTheFirstOfEqualPeaksAndTheValidHalf) {
  Live(0, 75);
  region_.SetPeak({75, 75, 5, true});
  KeptRow(0, 1, 75);
  KeptRow(1, 2, 30);
  Keep(2, 75);
  const Snapshot snapshot = Read();
  ASSERT_EQ(SumPeak(snapshot), (Count{75, 1}));
  for (const SnapshotSite& site : snapshot.sites) {
    EXPECT_EQ(site.peak.bytes == 75, site.leaked.bytes == 0);
  }
}

TEST_P(RegionOfMarks, SaysByHowMuchKeptRowsMayBeOff) {
  KeptRow(1, 1, 60);
  Keep(1, 75, 7);
  const SnapshotTracker tracker = Read().tracker;
  EXPECT_EQ(tracker.unattributed_bytes, 15u);
  EXPECT_EQ(tracker.peak_bound_bytes, 15u + 7);
}

TEST_P(RegionOfMarks, SurvivesKeptRowsThatCanNotBe) {
  Live(0, 10);
  KeptRow(1, 1, -60);
  Keep(1, ~0ull, ~0ull, ~0u);
  const Snapshot snapshot = Read();
  EXPECT_EQ(SumPeak(snapshot).bytes, 0u);
  EXPECT_EQ(SumLeaked(snapshot).bytes, 10u);
}

TEST_P(RegionOfMarks, HasWhatTheProgramKeptUnderNames) {
  NamedMomentRecord& late = Named("late", 50);
  NamedRow(late, sites_[2], 9);
  late.inexact = 1;
  NamedMomentRecord& early = Named("a/b", 20);
  NamedRow(early, sites_[0], 5);
  NamedRow(early, sites_[1], 6);
  const Snapshot snapshot = Read();
  ASSERT_EQ(snapshot.named.taken.size(), 2u);
  EXPECT_EQ(snapshot.named.taken[0], (NamedMoment{"a_b", 20, false}));
  EXPECT_EQ(snapshot.named.taken[1], (NamedMoment{"late", 50, true}));
  EXPECT_EQ(LiveIn(snapshot, 0), 11u);
  EXPECT_EQ(LiveIn(snapshot, 1), 9u);
}

TEST_P(RegionOfMarks, LeavesOutMomentsThatAreBeingWrittenAndRowsThatCanNotBe) {
  Named("half written", 1).sequence = 3;
  Named("never written", 1).sequence = 0;
  NamedMomentRecord& wild = Named("wild", 2);
  wild.first_row = 0xffffffff;
  wild.rows = 0xffffffff;
  NamedMomentRecord& twice = Named("twice", 3);
  NamedRow(twice, sites_[1], 6);
  NamedRow(twice, sites_[0], 5);
  NamedRow(twice, sites_[1], 6);
  NamedRow(twice, 99999, 6);
  const Snapshot snapshot = Read();
  ASSERT_EQ(snapshot.named.taken.size(), 2u);
  EXPECT_EQ(LiveIn(snapshot, 0), 0u);
  EXPECT_EQ(LiveIn(snapshot, 1), 11u);
}

TEST_P(RegionOfMarks, GivesNoRowToTwoNamedMoments) {
  NamedMomentRecord& first = Named("first", 1);
  NamedRow(first, sites_[0], 5);
  NamedRow(first, sites_[1], 6);
  for (uint64_t i = 2; i <= kMaxNamedMomentRecords; ++i) {
    NamedMomentRecord& again = Named(("again" + std::to_string(i)).c_str(), i);
    again.first_row = 0;
    again.rows = 2;
  }
  const Snapshot snapshot = Read();
  ASSERT_EQ(snapshot.named.taken.size(), kMaxNamedMoments);
  uint64_t sum = 0;
  for (const SnapshotSite& site : snapshot.sites) {
    for (uint32_t i = 0; i < kMaxNamedMoments; ++i) sum += LiveAt(site.named, i).bytes;
  }
  EXPECT_EQ(sum, 11u);
}

TEST_P(RegionOfMarks, TheOldestAutomaticOnesGiveWay) {
  for (uint64_t i = 0; i < 10; ++i) Named(("mark" + std::to_string(i)).c_str(), i);
  const auto nothing = std::make_shared<const std::vector<SiteLive>>();
  RegionHistory history;
  for (uint64_t i = 0; i < kMaxNamedMoments; ++i) {
    const bool automatic = i % 4 != 3;
    history.named.push_back(
        {(automatic ? "auto" : "told") + std::to_string(i), {20 + i, false, nothing}, automatic});
  }
  const Result<Snapshot> snapshot = ReadRegion(region_.fd(), {}, history);
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(snapshot->named.left_out, 10u);
  ASSERT_EQ(snapshot->named.taken.size(), kMaxNamedMoments);
  size_t marks = 0, told = 0;
  std::string oldest_automatic;
  for (const NamedMoment& named : snapshot->named.taken) {
    marks += named.name.starts_with("mark");
    told += named.name.starts_with("told");
    if (oldest_automatic.empty() && named.name.starts_with("auto")) oldest_automatic = named.name;
  }
  EXPECT_EQ(marks, 10u);
  EXPECT_EQ(told, kMaxNamedMoments / 4);
  EXPECT_EQ(oldest_automatic, "auto13");  // 0 to 12 without 3, 7 and 11
}

TEST_P(RegionOfMarks, NoNamedMomentHasRowsOfTwoTimes) {
  constexpr uint32_t kRows = 500;
  NamedMomentRecord& record = Named("same", 1);
  for (uint32_t i = 0; i < kRows; ++i) {
    NamedRow(record, i == 0 ? sites_[0] : region_.Site(region_.Node(0, 0x20000 + i)), 1);
  }
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (uint64_t value = 2; !stop; ++value) {
      record.sequence.fetch_add(1);
      for (uint32_t i = 0; i < kRows; ++i) {
        __atomic_store_n(&region_.At<NamedMomentRow>(Table::kNamedMomentRows, i).bytes, value,
                         __ATOMIC_RELEASE);
      }
      record.time_ns = value * 1000000;
      record.sequence.fetch_add(1);
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  });
  for (int i = 0; i < 300; ++i) {
    const Snapshot snapshot = Read();
    if (snapshot.named.taken.empty()) continue;  // was being written
    for (const SnapshotSite& site : snapshot.sites) {
      const uint64_t bytes = LiveAt(site.named, 0).bytes;
      if (bytes == 0) continue;
      EXPECT_EQ(bytes, snapshot.named.taken[0].time_ms);
      if (bytes != snapshot.named.taken[0].time_ms) i = 300;
    }
  }
  stop = true;
  writer.join();
}

}  // namespace
}  // namespace memprof
