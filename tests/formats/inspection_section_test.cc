#include "formats/capture/inspection_section.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "core/snapshot/canonical_snapshot.h"
#include "core/snapshot/snapshot_merger.h"
#include "formats/capture/byte_writer.h"
#include "formats/capture/capture_dump.h"
#include "formats/capture/capture_reader.h"
#include "formats/capture/capture_sections.h"
#include "formats/capture/capture_writer.h"
#include "tests/formats/sample_snapshot.h"

namespace memprof {
namespace {

// The sample's two sites are a list that the data hold, with what it holds, and a lost block.
Snapshot InspectedSnapshot() {
  Snapshot s = SampleSnapshot();
  SnapshotInspection& found = s.inspection;
  found.looks = 2;
  found.time_ms = 1200;
  found.longest_pause_us = 7300;
  found.took_ms = 150;
  found.notes = {"one that may matter"};
  found.rows.resize(2);
  found.rows[0] = {3, {}};
  found.rows[0].figures.lost_directly = {40, 1};
  found.rows[0].figures.reachable = {60, 2};
  found.rows[1] = {4, {}};
  found.rows[1].figures.lost_indirectly = {20, 1};
  found.rows[1].figures.reachable = {30, 1};
  found.rows[1].figures.inherited = {7, 1};
  found.rows[1].figures.unknown = {9, 1};
  found.rows[1].figures.in_cycles = {20, 1};
  found.rows[1].alone_bytes = 8192;
  found.rows[0].free_bytes = 4000;
  found.rows[1].type = 2;
  found.types = {"one that no row has", "db::Session"};
  found.roots = {"data of service", "stack of thread main"};
  found.paths = {{},
                 {0, true, 0, {}},
                 {1, false, 0, {50, 1}},
                 {2, false, 1, {30, 1}},
                 {0, true, 1, {}},
                 {4, false, 0, {10, 1}}};
  found.retained = {{}, {0, 0, 50}, {1, 1, 30}, {0, 0, 10}};
  return s;
}

// The same, told in another order, with every row, root, path and entry in two halves.
SnapshotInspection Shuffled(const SnapshotInspection& found) {
  SnapshotInspection t = found;
  const auto rows = static_cast<uint32_t>(t.rows.size());
  std::reverse(t.rows.begin(), t.rows.end());
  for (uint32_t i = 0; i < rows; ++i) t.rows.push_back({t.rows[i].node, {}});
  const auto roots = static_cast<uint32_t>(t.roots.size());
  for (uint32_t i = 0; i < roots; ++i) t.roots.push_back(found.roots[i]);
  t.roots.push_back("one that holds nothing");
  const auto paths = static_cast<uint32_t>(t.paths.size());
  for (uint32_t i = 1; i < paths; ++i) {
    HoldingPath& path = t.paths[i];
    if (!path.is_root) path.what = rows - 1 - path.what;
    HoldingPath half = path;
    if (half.parent != 0) half.parent += paths - 1;
    half.what += half.is_root ? roots : rows;
    half.own = {path.own.bytes / 2, path.own.allocations};
    path.own = {path.own.bytes - path.own.bytes / 2, 0};
    t.paths.push_back(half);
  }
  const auto entries = static_cast<uint32_t>(t.retained.size());
  for (uint32_t i = 1; i < entries; ++i) {
    RetainedEntry half = t.retained[i];
    t.retained[i].row = rows - 1 - half.row;
    if (half.parent != 0) half.parent += entries - 1;
    half.row = t.retained[i].row + rows;
    half.own_bytes = 0;
    t.retained.push_back(half);
  }
  return t;
}

TEST(InspectionSection, GivesBackWhatWasWritten) {
  const auto snapshot = Canonical(InspectedSnapshot());
  const auto content = DecodeCapture(EncodeCapture(snapshot));
  ASSERT_TRUE(content.has_value()) << content.error().message;
  EXPECT_TRUE(content->damage.empty());
  EXPECT_EQ(content->snapshot, *snapshot);
  EXPECT_EQ(SumOf(content->snapshot.inspection).lost(), (Count{60, 2}));
  EXPECT_EQ(SumOf(content->snapshot.inspection).live(), (Count{166, 7}));
}

TEST(InspectionSection, NamesTheTypesOfItsRows) {
  const auto content = DecodeCapture(EncodeCapture(Canonical(InspectedSnapshot())));
  ASSERT_TRUE(content.has_value()) << content.error().message;
  const SnapshotInspection& found = content->snapshot.inspection;
  EXPECT_EQ(found.types, std::vector<std::string>{"db::Session"});
  ASSERT_EQ(found.rows.size(), 2u);
  for (const InspectedRow& row : found.rows) {
    EXPECT_EQ(found.TypeOf(row), row.alone_bytes != 0 ? "db::Session" : "");
  }
  // One without types is as it was before there were any.
  SnapshotInspection without = found;
  for (InspectedRow& row : without.rows) row.type = 0;
  without.types.clear();
  const std::string shorter = EncodeInspection(without);
  EXPECT_TRUE(EncodeInspection(found).starts_with(shorter));
  SnapshotInspection read;
  ASSERT_TRUE(DecodeInspection(shorter, 100, read));
  EXPECT_EQ(read, without);
  // A type that there isn't.
  std::string broken = EncodeInspection(found);
  const size_t last = broken.size() - found.rows.size();
  for (size_t i = last; i < broken.size(); ++i) broken[i] = 2;
  EXPECT_FALSE(DecodeInspection(broken, 100, read));
}

TEST(InspectionSection, HasTheSameBytesForTheSameAnswer) {
  Snapshot shuffled = InspectedSnapshot();
  shuffled.inspection = Shuffled(shuffled.inspection);
  EXPECT_EQ(EncodeCapture(Canonical(shuffled)), EncodeCapture(Canonical(InspectedSnapshot())));
}

// Sites that the run has no figures of (all was freed) still have their stack.
TEST(InspectionSection, KeepsTheStacksOfItsRows) {
  Snapshot snapshot = InspectedSnapshot();
  snapshot.sites.clear();
  const auto content = DecodeCapture(EncodeCapture(Canonical(snapshot)));
  ASSERT_TRUE(content.has_value()) << content.error().message;
  const Snapshot& read = content->snapshot;
  ASSERT_EQ(read.inspection.rows.size(), 2u);
  for (const InspectedRow& row : read.inspection.rows) EXPECT_NE(row.node, 0u);
}

TEST(InspectionSection, IsOnlyThereIfThereWasAnInspection) {
  for (const CaptureSection& section :
       SplitSections(EncodeCapture(Canonical(SampleSnapshot()))).sections) {
    EXPECT_NE(SectionName(section.type), "inspection");
  }
}

TEST(InspectionSection, IsDroppedWhereRunsAreAdded) {
  SnapshotMerger merger;
  for (uint64_t run = 1; run <= 2; ++run) {
    Snapshot one = InspectedSnapshot();
    one.program.run_id = run;
    ASSERT_TRUE(merger.Add(std::move(one), 1).has_value());
  }
  EXPECT_EQ(merger.Take()->inspection, SnapshotInspection());
}

TEST(InspectionSection, IsShownByTheDump) {
  const auto dump = DumpCapture(EncodeCapture(Canonical(InspectedSnapshot())));
  ASSERT_TRUE(dump.has_value());
  for (const char* part : {"data of service", "stack of thread main", "one that may matter"}) {
    EXPECT_NE(dump->find(part), std::string::npos) << part;
  }
}

TEST(InspectionSection, BelievesNothingThatBreaksAnInvariant) {
  const Snapshot good = *Canonical(InspectedSnapshot());
  const auto taken = [&](const SnapshotInspection& found) {
    SnapshotInspection read;
    return DecodeInspection(EncodeInspection(found), good.nodes.size(), read);
  };
  ASSERT_TRUE(taken(good.inspection));
  const auto refused = [&](auto change) {
    SnapshotInspection found = good.inspection;
    change(found);
    return !taken(found);
  };
  using Found = SnapshotInspection;
  EXPECT_TRUE(
      refused([&](Found& f) { f.rows[0].node = static_cast<uint32_t>(good.nodes.size()); }));
  EXPECT_TRUE(refused([](Found& f) { f.paths[1].what = 2; }));
  EXPECT_TRUE(refused([](Found& f) { f.paths[2].what = 2; }));
  EXPECT_TRUE(refused([](Found& f) { f.paths[2].own.bytes += 1; }));
  EXPECT_TRUE(refused([](Found& f) { f.retained[1].row = 2; }));
  EXPECT_TRUE(refused([](Found& f) { f.retained[1].row = kNoRow; }));
  EXPECT_TRUE(refused([](Found& f) {
    for (uint32_t i = 0; i < kLongestPath; ++i) {
      f.retained.push_back({static_cast<uint32_t>(f.retained.size() - 1), 0, 0});
    }
  }));
  // The types are at the end, and need not be there.
  SnapshotInspection without = good.inspection;
  for (InspectedRow& row : without.rows) row.type = 0;
  without.types.clear();
  const std::string raw = EncodeInspection(good.inspection);
  for (size_t cut = 0; cut < raw.size(); ++cut) {
    SnapshotInspection read;
    EXPECT_EQ(DecodeInspection(raw.substr(0, cut), good.nodes.size(), read),
              cut == EncodeInspection(without).size())
        << cut;
  }
}

// Whatever the bytes say: what is taken has everything in range.
TEST(InspectionSection, TakesOnlyWhatIsInRange) {
  const Snapshot good = *Canonical(InspectedSnapshot());
  const std::string raw = EncodeInspection(good.inspection);
  std::mt19937 random(3);
  unsigned taken = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = raw;
    bytes[random() % bytes.size()] = static_cast<char>(random());
    SnapshotInspection read;
    if (!DecodeInspection(bytes, good.nodes.size(), read)) continue;
    ++taken;
    for (size_t p = 1; p < read.paths.size(); ++p) {
      ASSERT_LT(read.paths[p].parent, p);
      ASSERT_LT(read.paths[p].what, read.paths[p].is_root ? read.roots.size() : read.rows.size());
    }
    std::vector<uint32_t> groups(read.rows.size(), 0);
    for (size_t r = 1; r < read.retained.size(); ++r) {
      ASSERT_LT(read.retained[r].parent, r);
      ASSERT_LT(read.retained[r].row, read.rows.size());
    }
    RetainedBytes(read.retained, groups);
  }
  EXPECT_GT(taken, 100u);
}

TEST(InspectionSection, WhereItIsDamagedTheRestIsRead) {
  std::string bytes = EncodeCapture(Canonical(InspectedSnapshot()));
  const CaptureSections split = SplitSections(bytes);
  const auto at = std::find_if(
      split.sections.begin(), split.sections.end(),
      [](const CaptureSection& section) { return SectionName(section.type) == "inspection"; });
  ASSERT_NE(at, split.sections.end());
  bytes[at->file_offset + 40] ^= 1;
  const auto content = DecodeCapture(bytes);
  ASSERT_TRUE(content.has_value()) << content.error().message;
  ASSERT_EQ(content->damage.size(), 1u);
  Snapshot without = *Canonical(InspectedSnapshot());
  without.inspection = {};
  EXPECT_EQ(content->snapshot, without);
}

}  // namespace
}  // namespace memprof
