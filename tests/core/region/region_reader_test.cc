#include "core/region/region_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "core/protocol/sample_weight.h"
#include "tests/core/region/made_region.h"

namespace memprof {
namespace {

using Kind = MadeRegion::Kind;

// The stack of a site, innermost first, with its frames as text: "m+10", or "#3" for a row.
std::string StackOf(const Snapshot& s, const SnapshotSite& site) {
  std::string text;
  for (uint32_t node = site.node; node != 0; node = s.nodes[node].parent) {
    const SnapshotFrame& frame = s.frames[s.nodes[node].frame];
    text += frame.module == kNoModule ? "#" : s.modules[frame.module].path + "+";
    text += std::to_string(frame.offset) + " ";
  }
  return text;
}

void Fill(Cell& cell, uint64_t allocated, uint64_t allocations, uint64_t freed = 0,
          uint64_t frees = 0) {
  cell.allocated_bytes = allocated;
  cell.allocated_count = allocations;
  cell.freed_bytes = freed;
  cell.freed_count = frees;
}

class RegionReader : public testing::TestWithParam<Kind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, RegionReader, testing::Values(Kind::kMemory, Kind::kFile),
                         [](const auto& kind) {
                           return kind.param == Kind::kMemory ? "InMemory" : "InAFile";
                         });

// main → f → malloc(100) in one thread, the free in another: region_layout.h's worked example.
TEST_P(RegionReader, SumsTheCellsOfASiteOverThreads) {
  MadeRegion region(GetParam());
  const uint32_t module = region.Module("/bin/m", 0x5000);
  const uint32_t leaf = region.Node(region.Node(0, 0x5010, module), 0x5020, module);
  const uint32_t site = region.Site(leaf);
  Fill(region.NewCell(site), 100, 1);
  Fill(region.NewCell(site), 0, 0, 100, 1);
  region.SetPeak({0, 100, 1, true});
  region.header().dropped_events = 3;
  region.header().rss_peak_bytes = 12345;
  SnapshotProgram program;
  program.program = "m";
  const Result<Snapshot> s = ReadRegion(region.fd(), program);
  ASSERT_TRUE(s.has_value()) << s.error().message;
  ASSERT_EQ(s->sites.size(), 1u);
  EXPECT_EQ(s->sites[0].total, (Count{100, 1}));
  EXPECT_EQ(s->sites[0].leaked, (Count{0, 0}));
  EXPECT_EQ(StackOf(*s, s->sites[0]), "/bin/m+32 /bin/m+16 ");
  EXPECT_EQ(s->modules[0].build_id, "ab");
  EXPECT_EQ(s->thread_names, std::vector<std::string>{"main"});
  EXPECT_EQ(s->program.program, "m");
  EXPECT_EQ(s->program.rss_peak_bytes, 12345u);
  EXPECT_EQ(s->tracker.dropped_events, 3u);
  EXPECT_FALSE(s->tracker.inexact_read);
}

TEST_P(RegionReader, SumsTheSharedCellsOfSites) {
  MadeRegion region(GetParam());
  uint32_t site = 0;
  while (site < 200) site = region.Site(region.Node(0, 0x5000 + site));
  for (const uint32_t some : {3u, 130u}) {
    Fill(region.NewCell(some), 100, 1);
    Fill(region.SharedCell(some), 50, 2, 100, 1);
  }
  region.SetPeak({100, 300, 1, true});
  const Result<Snapshot> s = ReadRegion(region.fd(), {});
  ASSERT_TRUE(s.has_value()) << s.error().message;
  ASSERT_EQ(s->sites.size(), 2u);
  for (const SnapshotSite& one : s->sites) {
    EXPECT_EQ(one.total, (Count{150, 3}));
    EXPECT_EQ(one.leaked, (Count{50, 2}));
  }
}

// A capture can't store these words without the other one: it would differ from the snapshot.
TEST_P(RegionReader, TakesFreesOfBeforeAnAttachOnlyWhereItWasAttached) {
  MadeRegion region(GetParam());
  region.header().before_attach_frees = 2;
  region.header().before_attach_bytes = 20;
  const Result<Snapshot> preloaded = ReadRegion(region.fd(), {});
  ASSERT_TRUE(preloaded.has_value()) << preloaded.error().message;
  EXPECT_EQ(preloaded->tracker.attached, 0u);
  EXPECT_EQ(preloaded->tracker.before_attach_frees, 0u);
  EXPECT_EQ(preloaded->tracker.before_attach_bytes, 0u);
  region.header().attached = 3;
  const Result<Snapshot> attached = ReadRegion(region.fd(), {});
  ASSERT_TRUE(attached.has_value()) << attached.error().message;
  EXPECT_EQ(attached->tracker.attached, 1u);
  EXPECT_EQ(attached->tracker.before_attach_frees, 2u);
  EXPECT_EQ(attached->tracker.before_attach_bytes, 20u);
}

TEST_P(RegionReader, KeepsClassesOfSampledSizesApart) {
  MadeRegion region(GetParam());
  const uint32_t leaf = region.Node(0, kPcNoStack);
  for (const uint32_t size_class : {7u, 9u}) {
    const uint32_t site = region.Site(leaf);
    region.At<SiteRecord>(Table::kSites, site).label = SiteLabel(0, 0, size_class);
    Fill(region.NewCell(site), 100 * size_class, 1);
  }
  region.SetPeak({1600, 1600, 1, true});
  const Result<Snapshot> exact = ReadRegion(region.fd(), {});
  ASSERT_TRUE(exact.has_value());
  EXPECT_EQ(exact->sites.size(), 1u);  // classes mean nothing there
  region.header().options.sample_bytes = 4096;
  const Result<Snapshot> s = ReadRegion(region.fd(), {});
  ASSERT_TRUE(s.has_value());
  EXPECT_EQ(s->tracker.sample_bytes, 4096u);
  ASSERT_EQ(s->sites.size(), 2u);
  EXPECT_EQ(s->sites[0].size_class, 7u);
  EXPECT_EQ(s->sites[0].total.bytes, 700u);
  EXPECT_EQ(s->sites[1].size_class, 9u);
  EXPECT_EQ(s->thread_names, std::vector<std::string>{"main"});
}

TEST_P(RegionReader, KnowsNoLargerClassThanThereIs) {
  MadeRegion region(GetParam());
  const uint32_t site = region.Site(region.Node(0, kPcNoStack));
  region.At<SiteRecord>(Table::kSites, site).label = SiteLabel(0, 0, 200);
  Fill(region.NewCell(site), 100, 1);
  region.SetPeak({100, 100, 1, true});
  region.header().options.sample_bytes = 4096;
  const Result<Snapshot> s = ReadRegion(region.fd(), {});
  ASSERT_TRUE(s.has_value());
  ASSERT_EQ(s->sites.size(), 1u);
  EXPECT_EQ(s->sites[0].size_class, kLargestSizeClass);  // as a capture's reader takes it
}

TEST_P(RegionReader, KeepsFunctionsOfTheAllocatorApart) {
  MadeRegion region(GetParam());
  const uint32_t leaf = region.Node(0, kPcNoStack);
  for (const uint32_t kind : {1u, 5u, 200u}) {
    const uint32_t site = region.Site(leaf);
    region.At<SiteRecord>(Table::kSites, site).label = SiteLabel(0, kind, 0);
    Fill(region.NewCell(site), 100 * kind, 1);
  }
  region.SetPeak({20600, 20600, 1, true});
  const Result<Snapshot> s = ReadRegion(region.fd(), {});
  ASSERT_TRUE(s.has_value());
  ASSERT_EQ(s->sites.size(), 3u);
  EXPECT_EQ(s->sites[0].kind, AllocatorKind::kUnknown);  // 200: of no memprof
  EXPECT_EQ(s->sites[1].kind, AllocatorKind::kMalloc);
  EXPECT_EQ(s->sites[2].kind, AllocatorKind::kNew);
  EXPECT_EQ(s->sites[2].total.bytes, 500u);
}

// One thread's blocks are of one class, another's of two; a third's sizes are counted elsewhere.
TEST_P(RegionReader, SumsSizesAndTemporariesOverThreads) {
  MadeRegion region(GetParam());
  const uint32_t site = region.Site(region.Node(0, kPcNoStack));
  Fill(region.NewCell(site), 200, 2);
  region.Details(0).sizes = 7 + 1;
  region.Details(0).temporary_bytes = 100;
  region.Details(0).temporary_count = 1;
  Fill(region.NewCell(site), 109, 2);
  region.Details(1).sizes = kOwnSizes | region.NewSizes();
  SizeCounts& sizes = region.At<SizeCounts>(Table::kSizeCounts, 0);
  sizes.classes[7].bytes = 100;
  sizes.classes[7].count = 1;
  sizes.classes[4].bytes = 9;
  sizes.classes[4].count = 1;
  region.SetPeak({309, 309, 1, true});
  region.header().options.temporary_threshold = 8;
  const Result<Snapshot> known = ReadRegion(region.fd(), {});
  ASSERT_TRUE(known.has_value());
  ASSERT_EQ(known->sites.size(), 1u);
  EXPECT_EQ(known->sites[0].sizes, (SizeHistogram{{4, {9, 1}}, {7, {300, 3}}}));
  EXPECT_EQ(known->sites[0].temporary, (Count{100, 1}));
  EXPECT_EQ(known->tracker.temporary_threshold, 8u);

  Fill(region.NewCell(site), 1000, 1);
  region.Details(2).sizes = kSizesElsewhere;
  region.header().other_sizes.classes[10].bytes = 1000;
  region.header().other_sizes.classes[10].count = 1;
  const Result<Snapshot> other = ReadRegion(region.fd(), {});
  ASSERT_TRUE(other.has_value());
  EXPECT_EQ(other->sites[0].sizes, SizeHistogram());
  EXPECT_EQ(SumSizes(*other), (SizeHistogram{{4, {9, 1}}, {7, {300, 3}}, {10, {1000, 1}}}));
}

// An event was in flight, two cells name one record, a class and a record that there are not.
TEST_P(RegionReader, TellsNoSizesThatAreNotThoseOfTheFigures) {
  for (const uint32_t word : {kOwnSizes | 0, kOwnSizes | 1, kOwnSizes | 0x7ffffffeu, 49u, 0u}) {
    MadeRegion region(GetParam());
    SizeCounts& sizes = region.At<SizeCounts>(Table::kSizeCounts, region.NewSizes());
    sizes.classes[7].bytes = 100;
    sizes.classes[7].count = 1;
    sizes.classes[47].bytes = ~uint64_t{0};
    sizes.classes[47].count = 5;
    for (uint32_t i = 0; i < 2; ++i) {
      Fill(region.NewCell(region.Site(region.Node(0, kPcNoStack))), 150, 2);
      region.Details(i).sizes = word;
      region.Details(i).temporary_bytes = ~uint64_t{0};
      region.Details(i).temporary_count = 3;
    }
    region.SetPeak({300, 300, 1, true});
    const Result<Snapshot> s = ReadRegion(region.fd(), {});
    ASSERT_TRUE(s.has_value());
    ASSERT_EQ(s->sites.size(), 1u);
    EXPECT_EQ(s->sites[0].sizes, SizeHistogram()) << word;
    EXPECT_EQ(s->sites[0].temporary, (Count{300, 4}));
    const SizeHistogram told = SumSizes(*s);
    const Count untold = Untold(told, SumTotal(*s));
    EXPECT_EQ(SumSizes(told).bytes + untold.bytes, 300u) << word;
    EXPECT_EQ(SumSizes(told).allocations + untold.allocations, 4u) << word;
  }
}

TEST_P(RegionReader, TakesLiveFiguresWhileTheMaximumIsNow) {
  MadeRegion region(GetParam());
  const uint32_t site = region.Site(region.Node(0, kPcNoStack));
  Cell& cell = region.NewCell(site);
  Fill(cell, 150, 2);
  cell.epoch = 7;
  cell.peak_bytes = 100;
  cell.peak_count = 1;
  region.SetPeak({150, 150, 7, true});
  EXPECT_EQ(SumPeak(*ReadRegion(region.fd(), {})), (Count{150, 2}));
  region.SetPeak({150, 150, 7, false});
  EXPECT_EQ(SumPeak(*ReadRegion(region.fd(), {})), (Count{100, 1}));
  region.SetPeak({150, 150, 8, false});  // not touched since: its live figures are the peak's
  EXPECT_EQ(SumPeak(*ReadRegion(region.fd(), {})), (Count{150, 2}));
}

TEST_P(RegionReader, StatesWhatThePeakHasThatNoRowHas) {
  MadeRegion region(GetParam());
  Fill(region.NewCell(region.Site(region.Node(0, kPcNoStack))), 100, 1);
  region.SetPeak({130, 130, 0, true});  // 30 bytes were in flight when the program was killed
  region.header().shared_bytes = 5;
  const Result<Snapshot> s = ReadRegion(region.fd(), {});
  EXPECT_EQ(s->tracker.counter_peak_bytes, 130u);
  EXPECT_EQ(s->tracker.unattributed_bytes, 30u);
  EXPECT_EQ(s->tracker.peak_bound_bytes, 35u);
  region.SetPeak({90, 90, 0, true});
  EXPECT_EQ((*ReadRegion(region.fd(), {}))->tracker.unattributed_bytes, 0u);
  EXPECT_EQ((*ReadRegion(region.fd(), {}))->tracker.peak_bound_bytes, 15u);
}

TEST_P(RegionReader, ReadsACellWhoseWriterDiedInsideAnEvent) {
  MadeRegion region(GetParam());
  Cell& cell = region.NewCell(region.Site(region.Node(0, kPcNoStack)));
  Fill(cell, 100, 1);
  cell.sequence = 5;
  region.SetPeak({100, 100, 0, true});
  SnapshotProgram dead;
  dead.end_kind = EndKind::kSignal;
  const Result<Snapshot> s = ReadRegion(region.fd(), dead);
  EXPECT_EQ(SumLeaked(*s), (Count{100, 1}));
  EXPECT_FALSE(s->tracker.inexact_read);
}

TEST_P(RegionReader, GivesARowToWhatHasNoStack) {
  MadeRegion region(GetParam());
  const uint32_t good = region.Node(0, 0x5000);
  const uint32_t own_parent = region.Node(good + 1, 0x6000);
  const uint32_t newer_parent = region.Node(4000000000u, 0x7000);
  for (const uint32_t node : {good, own_parent, newer_parent, 0u, 4000000000u}) {
    Fill(region.NewCell(region.Site(node)), 10, 1);
  }
  region.SetPeak({50, 50, 0, true});
  const Result<Snapshot> s = ReadRegion(region.fd(), {});
  EXPECT_EQ(SumTotal(*s), (Count{50, 5}));
  std::vector<std::string> stacks;
  for (const SnapshotSite& site : s->sites) stacks.push_back(StackOf(*s, site));
  std::sort(stacks.begin(), stacks.end());
  // The two without a node are one site under [no stack]; a stack that goes nowhere is
  // [incomplete].
  EXPECT_EQ(stacks, (std::vector<std::string>{"#20480 ", "#24576 #4 ", "#28672 #4 ", "#3 "}));
}

TEST_P(RegionReader, BelievesNoFigureThatCannotBe) {
  MadeRegion region(GetParam());
  const uint32_t site = region.Site(region.Node(0, kPcNoStack));
  constexpr uint64_t kHuge = std::numeric_limits<int64_t>::max();
  for (int i = 0; i < 3; ++i) {
    Cell& cell = region.NewCell(site);
    Fill(cell, kHuge, kHuge, kHuge + 9, kHuge + 9);
    cell.peak_bytes = cell.peak_count = std::numeric_limits<int64_t>::min();
  }
  Fill(region.NewCell(region.Site(region.Node(0, 0x9000))), 10, 1, 70, 2);  // live: below 0
  Fill(region.NewCell(4000000000u), 10, 1);                                 // of no site
  region.SetPeak({0, 100, 0, false});
  const Result<Snapshot> s = ReadRegion(region.fd(), {});
  ASSERT_TRUE(s.has_value());
  EXPECT_EQ(SumLeaked(*s), (Count{0, 0}));
  EXPECT_GE(s->tracker.peak_bound_bytes, s->tracker.unattributed_bytes);
}

TEST_P(RegionReader, StaysWithinTheTablesWhateverTheCountsSay) {
  MadeRegion region(GetParam());
  const uint32_t module = region.Module("/bin/m", 0x5000);
  region.At<ModuleRecord>(Table::kModules, module).path_bytes = 0xffffffff;
  region.At<ModuleRecord>(Table::kModules, module).path_offset = 0xfffffff0;
  region.At<ModuleRecord>(Table::kModules, module).build_id_bytes = 0xffffffff;
  Fill(region.NewCell(region.Site(region.Node(0, 0x5010, module))), 10, 1);
  Fill(region.NewCell(region.Site(region.Node(0, 0x5010, 4000000000u))), 10, 1);
  for (size_t table = 0; table < kTableCount; ++table) region.header().counts[table] = 0xffffffff;
  const Result<Snapshot> s = ReadRegion(region.fd(), {});
  ASSERT_TRUE(s.has_value());
  EXPECT_EQ(SumTotal(*s), (Count{20, 2}));
  for (const SnapshotModule& m : s->modules) {
    EXPECT_EQ(m.path, "");
    EXPECT_EQ(m.build_id.size(), 64u);
  }
}

// Every module may claim all of the strings: 4,096 times 512 KiB.
TEST_P(RegionReader, TakesNoMoreOfAPathThanAPathCanHave) {
  MadeRegion region(GetParam());
  const uint32_t module = region.Module("/bin/m", 0x5000);
  region.count(Table::kStrings) = 512 * 1024;
  region.At<ModuleRecord>(Table::kModules, module).path_bytes = 512 * 1024;
  Fill(region.NewCell(region.Site(region.Node(0, 0x5010, module))), 10, 1);
  const Result<Snapshot> s = ReadRegion(region.fd(), {});
  ASSERT_EQ(s->modules.size(), 1u);
  EXPECT_LE(s->modules[0].path.size(), 4096u);
}

TEST_P(RegionReader, RefusesALayoutThatDoesNotFitItsFile) {
  for (size_t table = 0; table < kTableCount; ++table) {
    for (int part = 0; part < 4; ++part) {
      MadeRegion region(GetParam());
      TableInfo& info = region.header().tables[table];
      if (part == 0) info.offset += 8;
      if (part == 1) info.offset = region.bytes();
      if (part == 2) info.capacity = 0xffffffff;
      if (part == 3) info.record_bytes += 1;
      if (part == 1 && info.capacity == 0) continue;  // nothing is there
      const Result<Snapshot> s = ReadRegion(region.fd(), {});
      ASSERT_FALSE(s.has_value()) << table << " " << part;
      EXPECT_EQ(s.error().kind, ErrorKind::kUnreadable);
    }
  }
  MadeRegion newer(GetParam());
  newer.header().version = kRegionVersion + 1;
  EXPECT_FALSE(ReadRegion(newer.fd(), {}).has_value());
}

TEST(RegionReader, RefusesAFileThatWasCut) {
  for (const off_t size : {0, 100, 5000}) {
    MadeRegion region(Kind::kFile);
    ASSERT_EQ(ftruncate(region.fd(), size), 0);
    const Result<Snapshot> s = ReadRegion(region.fd(), {});
    ASSERT_FALSE(s.has_value());
    EXPECT_EQ(s.error().kind, ErrorKind::kUnreadable);
    EXPECT_EQ(s.error().message.find('\n'), std::string::npos);
  }
}

TEST_P(RegionReader, ReadsTheOrderingWordAlone) {
  MadeRegion region(GetParam());
  const PeakState state = {70, 100, 0x1abcdef01, false};
  region.SetPeak(state);
  EXPECT_EQ(*ReadPeak(region.fd()), state);
  EXPECT_TRUE(IsRegion(region.fd()));
}

// The heap is far below its peak: live bytes are in the accounts of one generation.
TEST_P(RegionReader, SumsTheAccountsOfAFarWord) {
  MadeRegion region(GetParam());
  const uint32_t site = region.Site(region.Node(0, 0x5000));
  Fill(region.NewCell(site), 1000, 1, 700, 1);
  region.NewCell(site).epoch = 5;
  const uint64_t generation = GenerationOf(2, 7);
  const auto account = [&](uint32_t index) -> PeakAccount& {
    return region.At<PeakAccount>(Table::kPeakAccounts, index);
  };
  PeakGeneration& named = account(AccountOfSlot(2)).generations[PlaceOf(generation)];
  named.base = 500;
  named.accounts = 4;
  account(kSharedAccount).account = AmountWord(-7, TagOf(generation) | kAccountOpen);
  account(1).account = AmountWord(100, TagOf(generation));
  account(2).account =
      AmountWord(1000, TagOf(GenerationOf(2, 6)) | kAccountOpen);  // has not joined
  account(3).account = AmountWord(-20, TagOf(generation) | kAccountJoined);
  account(4).account = AmountWord(1000, TagOf(generation) | kAccountOpen);  // takes no part
  const PeakState far = {0, 900, 5, false, true, generation};
  region.SetPeak(far);
  PeakState expected = far;
  expected.current = 500 - 7 + 100 - 20;
  EXPECT_EQ(*ReadPeak(region.fd()), expected);
  const Result<Snapshot> s = ReadRegion(region.fd(), {});
  ASSERT_TRUE(s.has_value()) << s.error().message;
  EXPECT_EQ(s->tracker.counter_peak_bytes, 900u);
  EXPECT_FALSE(s->tracker.inexact_read);
}

// Nothing that a program can write there leads outside the table, or overflows.
TEST_P(RegionReader, TakesAnyFarWord) {
  for (const uint64_t generation :
       {GenerationOf(0, 0), GenerationOf(kMaxSlots - 1, 1), GenerationOf(1, ~0u)}) {
    MadeRegion region(GetParam());
    auto& opener =
        region.At<PeakAccount>(Table::kPeakAccounts, AccountOfSlot(OpenerOf(generation)));
    opener.generations[PlaceOf(generation)].base = std::numeric_limits<int64_t>::min();
    opener.generations[PlaceOf(generation)].accounts = ~0u;
    for (uint32_t i = 0; i < kPeakAccounts; ++i) {
      region.At<PeakAccount>(Table::kPeakAccounts, i).account =
          AmountWord(std::numeric_limits<int32_t>::min(), TagOf(generation));
    }
    region.SetPeak({0, 900, 5, false, true, generation});
    ASSERT_TRUE(ReadPeak(region.fd()).has_value());
    EXPECT_EQ(ReadPeak(region.fd())->peak, 900u);
    EXPECT_TRUE(ReadRegion(region.fd(), {}).has_value());
  }
}

}  // namespace
}  // namespace memprof
