#include "formats/capture/mapping_sections.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "formats/capture/byte_writer.h"
#include "formats/capture/history_sections.h"

namespace memprof {
namespace {

Snapshot Places() {
  Snapshot snapshot;
  snapshot.nodes = {{}, {0, 0}, {1, 0}};
  snapshot.thread_names = {"a", "b"};
  return snapshot;
}

SnapshotMappings Some() {
  SnapshotMappings mappings;
  mappings.followed = true;
  mappings.lost_events = 3;
  mappings.unattributed_bytes = 4096;
  mappings.rows = {
      {1, 0, MappingKind::kAnonymous, false, "", {8192, 2}, {4096, 1}, {65536, 9}},
      {1, 1, MappingKind::kAnonymous, true, "", {1 << 30, 1}, {1 << 30, 1}, {1 << 30, 1}},
      {2, 0, MappingKind::kFile, false, "/a", {4096, 1}, {0, 0}, {4096, 1}},
      {2, 0, MappingKind::kFile, false, "/b", {4096, 1}, {4096, 1}, {4096, 1}},
      {2, 1, MappingKind::kBreak, false, "", {100, 1}, {0, 0}, {100, 1}}};
  return mappings;
}

TEST(MappingSections, GiveBackWhatWasWritten) {
  Snapshot snapshot = Places();
  ASSERT_TRUE(DecodeMappings(EncodeMappings(Some()), snapshot));
  EXPECT_EQ(snapshot.mappings, Some());
}

TEST(MappingSections, AreNotThereWhereNobodyFollowedMappings) {
  EXPECT_EQ(EncodeMappings({}), "");
  EXPECT_EQ(EncodeMemory({}), "");
}

TEST(MappingSections, KeepWhatWasLostWhereNobodySaysThatTheyWereFollowed) {
  SnapshotMappings lost;
  lost.lost_events = 3;
  Snapshot snapshot = Places();
  ASSERT_TRUE(DecodeMappings(EncodeMappings(lost), snapshot));
  EXPECT_EQ(snapshot.mappings, lost);
}

TEST(MappingSections, RefuseWhatRefersToNothing) {
  Snapshot snapshot = Places();
  snapshot.nodes.resize(2);
  EXPECT_FALSE(DecodeMappings(EncodeMappings(Some()), snapshot));
  snapshot = Places();
  snapshot.thread_names.resize(1);
  EXPECT_FALSE(DecodeMappings(EncodeMappings(Some()), snapshot));
}

TEST(MappingSections, RefuseEveryTruncation) {
  const std::string whole = EncodeMappings(Some());
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
    Snapshot snapshot = Places();
    EXPECT_FALSE(DecodeMappings(std::string_view(whole).substr(0, bytes), snapshot)) << bytes;
  }
}

// Two of the rows have a history.
Snapshot WithHistories() {
  Snapshot snapshot = Places();
  snapshot.moments = {16, {{16}, {32}, {48}}};
  snapshot.mappings = Some();
  snapshot.mappings.rows[0].history = {{0, {4096, 1}}, {2, {8192, 2}}};
  snapshot.mappings.rows[3].history = {{1, {4096, 1}}, {2, {0, 0}}};
  return snapshot;
}

TEST(MappingMomentsSection, GivesBackWhatWasWritten) {
  const Snapshot snapshot = WithHistories();
  Snapshot read = snapshot;
  DropMappingMoments(read.mappings);
  EXPECT_EQ(read.mappings, Some());
  EXPECT_EQ(EncodeMappingMoments(read.mappings), "");
  ASSERT_TRUE(DecodeMappingMoments(EncodeMappingMoments(snapshot.mappings), read));
  EXPECT_EQ(read.mappings, snapshot.mappings);
}

TEST(MappingMomentsSection, RefusesEveryTruncationAndWhatRefersToNothing) {
  const Snapshot snapshot = WithHistories();
  const std::string whole = EncodeMappingMoments(snapshot.mappings);
  Snapshot read = snapshot;
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
    EXPECT_FALSE(DecodeMappingMoments(std::string_view(whole).substr(0, bytes), read)) << bytes;
  }
  read = snapshot;
  read.moments.at.resize(2);
  EXPECT_FALSE(DecodeMappingMoments(whole, read));
  read = snapshot;
  read.mappings.rows.resize(3);
  EXPECT_FALSE(DecodeMappingMoments(whole, read));
}

TEST(MappingMoments, OfOnePlaceAreSummed) {
  std::vector<SnapshotMapping> rows = WithHistories().mappings.rows;
  rows.push_back(rows[0]);
  const std::vector<SnapshotMapping> canonical = CanonicalMappings(rows);
  EXPECT_EQ(canonical.size(), 5u);
  EXPECT_EQ(canonical[0].history, (LiveHistory{{0, {8192, 2}}, {2, {16384, 4}}}));
}

MemoryRecord SomeMemory() {
  MemoryRecord memory;
  memory.samples = {{10, 1000, 500, 100, 50, 150, 100, 100, 700, {}},
                    {20,
                     900,
                     400,
                     100,
                     50,
                     150,
                     100,
                     100,
                     100,
                     {AllocatorProvider::kJemalloc, 15, 350, 0, std::nullopt, 20, {}}}};
  memory.last_said = {AllocatorProvider::kGlibc, 30, 1, std::nullopt, 2, std::nullopt, {}};
  return memory;
}

TEST(MemorySection, GivesBackWhatWasWritten) {
  MemoryRecord memory;
  ASSERT_TRUE(DecodeMemory(EncodeMemory(SomeMemory()), memory));
  EXPECT_EQ(memory, SomeMemory());
}

TEST(MemorySection, RefusesEveryTruncationAndTimesThatGoBack) {
  const std::string whole = EncodeMemory(SomeMemory());
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
    MemoryRecord memory;
    EXPECT_FALSE(DecodeMemory(std::string_view(whole).substr(0, bytes), memory)) << bytes;
  }
  MemoryRecord back = SomeMemory();
  std::swap(back.samples[0].time_ms, back.samples[1].time_ms);
  MemoryRecord memory;
  EXPECT_FALSE(DecodeMemory(EncodeMemory(back), memory));
}

TEST(AllocatorLiveSection, GivesBackWhatWasWrittenAndRefusesTheRest) {
  MemoryRecord memory = SomeMemory();
  EXPECT_EQ(EncodeAllocatorLive(memory), "");
  memory.samples[1].allocator.live_bytes = 340;
  const std::string whole = EncodeAllocatorLive(memory);
  MemoryRecord read = SomeMemory();
  ASSERT_TRUE(DecodeAllocatorLive(whole, read));
  EXPECT_EQ(read, memory);
  ForgetAllocatorLive(read);
  EXPECT_EQ(read, SomeMemory());
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
    EXPECT_FALSE(DecodeAllocatorLive(std::string_view(whole).substr(0, bytes), read)) << bytes;
  }
  read = SomeMemory();
  read.samples.pop_back();
  EXPECT_FALSE(DecodeAllocatorLive(whole, read));
  // The allocator gave no figures.
  read = SomeMemory();
  read.samples[1].allocator = {};
  EXPECT_FALSE(DecodeAllocatorLive(whole, read));
}

}  // namespace
}  // namespace memprof
