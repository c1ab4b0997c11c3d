// Regions that were written to do harm: the cost of reading one is bounded by facts that we know
// ourselves.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>

#include "core/region/region_mappings.h"
#include "core/region/region_reader.h"
#include "core/region/region_view.h"
#include "tests/core/region/made_region.h"

namespace memprof {
namespace {

constexpr uint64_t kMadeBudget = 1 << 20;  // MadeRegion's

TEST(HostileRegion, IsReadByTheLayoutThatItsMakerKnows) {
  for (const auto kind : {MadeRegion::Kind::kMemory, MadeRegion::Kind::kFile}) {
    MadeRegion region(kind);
    Cell& cell = region.NewCell(region.Site(region.Node(0, 0x5000)));
    cell.allocated_bytes = 300;
    cell.allocated_count = 3;
    region.SetPeak({300, 300, 1, true});
    RegionPlace place(region.fd());
    place.layout = LayoutFor(kMadeBudget);
    for (TableInfo& table : region.header().tables) {
      table = {uint64_t{1} << 60, 0xffffffff, 0x7fffffff};
    }
    region.header().region_bytes = 1;
    EXPECT_FALSE(ReadRegion(region.fd(), {}, {}).has_value());
    const Result<Snapshot> read = ReadRegion(place, {}, {});
    ASSERT_TRUE(read.has_value()) << read.error().message;
    EXPECT_EQ(SumPeak(*read).bytes, 300u);
  }
}

TEST(HostileRegion, HasNoStackThatIsDeeperThanTheTrackers) {
  MadeRegion region;
  uint32_t node = 0;
  for (int i = 0; i < 10000; ++i) node = region.Node(node, 0x5000 + static_cast<uint64_t>(i));
  Cell& cell = region.NewCell(region.Site(node));
  cell.allocated_bytes = 10;
  cell.allocated_count = 1;
  const Result<Snapshot> read = ReadRegion(region.fd(), {}, {});
  ASSERT_TRUE(read.has_value());
  ASSERT_EQ(read->sites.size(), 1u);
  uint32_t depth = 0;
  for (uint32_t at = read->sites[0].node; at != 0; at = read->nodes[at].parent) ++depth;
  EXPECT_LE(depth, kMaxFrames + kMaxPythonFrames + 16);
}

TEST(HostileRegion, GivesNoRangeOverAnother) {
  MadeRegion region;
  region.count(Table::kMappingSites) = region.count(Table::kMappings) = 1;
  region.At<MappingSiteRecord>(Table::kMappingSites, 0).site_plus_one = 1;
  region.At<MappingRecord>(Table::kMappings, 0).site_plus_one = 1;
  constexpr uint32_t kRanges = 600;
  region.count(Table::kMappedRanges) = kRanges;
  for (uint32_t i = 0; i < kRanges; ++i) {
    auto& range = region.At<MappedRange>(Table::kMappedRanges, i);
    range.start = 4096 * (kRanges - i);
    range.end = (uint64_t{1} << 40) + i;
    range.mapping_plus_one = 1;
  }
  const auto view = RegionView::Open(region.fd());
  ASSERT_TRUE(view.has_value());
  const auto ranges = ReadRanges(*view);
  ASSERT_FALSE(ranges.empty());
  uint64_t before = 0;
  for (const LiveRange& range : ranges) {
    EXPECT_GE(range.start, before);
    EXPECT_LT(range.start, range.end);
    before = range.end;
  }
}

// In a process of its own, so that its memory can be measured: a file of 540 MiB that is a hole.
TEST(HostileRegion, ThatIsAHoleTakesNoMemory) {
  const pid_t reader = fork();
  if (reader == 0) {
    rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    std::string pattern = testing::TempDir() + "/region-XXXXXX";
    const int fd = mkostemp(pattern.data(), O_CLOEXEC);
    unlink(pattern.c_str());
    RegionHeader header = {};
    const uint64_t bytes = LayOutRegion(header, uint64_t{512} << 20);
    for (auto& count : header.counts) count = 0xffffffff;
    if (fd < 0 || ftruncate(fd, static_cast<off_t>(bytes)) != 0 ||
        pwrite(fd, &header, sizeof header, 0) != static_cast<ssize_t>(sizeof header)) {
      _exit(2);
    }
    const Result<Snapshot> read = ReadRegion(fd, {}, {});
    getrusage(RUSAGE_SELF, &after);
    _exit(!read ? 3 : after.ru_maxrss - before.ru_maxrss > 100 * 1024 ? 4 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(reader, &status, 0), reader);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace memprof
