#include "cli/inspect/root_finder.h"

#include <gtest/gtest.h>

#include "tests/core/inspect/made_memory.h"

namespace memprof {
namespace {

SpaceMapping Anonymous(uint64_t begin, uint64_t end, const std::string& name = {}) {
  SpaceMapping mapping;
  mapping.range = {begin, end};
  mapping.readable = mapping.writable = true;
  mapping.name = name;
  return mapping;
}

SpaceMapping Guard(uint64_t begin, uint64_t end) {
  SpaceMapping mapping;
  mapping.range = {begin, end};
  return mapping;
}

using Ranges = std::vector<AddressRange>;

Ranges RangesOf(const std::vector<Root>& roots, const std::string& name) {
  for (const Root& root : roots) {
    if (root.name == name) return root.ranges;
  }
  return {};
}

TEST(RootFinder, TakesAStackFromTheRedZoneOnAndNothingBelow) {
  RootFacts facts;
  facts.mappings = {Guard(0x10000, 0x11000), Anonymous(0x11000, 0x20000),
                    Anonymous(0x30000, 0x40000, "[stack]")};
  facts.threads = {{1, "main", 0x38000, 0, {42}}, {2, "worker", 0x18000, 0x1f800, {}}};
  const std::vector<Root> roots = FindRoots(facts, MadeMemory());
  EXPECT_EQ(RangesOf(roots, "stack of thread main"), (Ranges{{0x38000 - 128, 0x40000}}));
  EXPECT_EQ(RangesOf(roots, "stack of thread worker"), (Ranges{{0x18000 - 128, 0x20000}}));
  EXPECT_EQ(RangesOf(roots, "other memory"), Ranges{});
  EXPECT_EQ(roots[1].name, "registers of thread main");
  EXPECT_EQ(roots[1].words, std::vector<uint64_t>{42});
}

TEST(RootFinder, LeavesOutTheTrackersStateInAThread) {
  RootFacts facts;
  facts.mappings = {Anonymous(0x11000, 0x20000)};
  facts.threads = {{2, "worker", 0x18080, 0x1f800, {}}};
  facts.thread_state = -0x100;
  facts.thread_state_bytes = 64;
  EXPECT_EQ(RangesOf(FindRoots(facts, MadeMemory()), "stack of thread worker"),
            (Ranges{{0x18000, 0x1f700}, {0x1f740, 0x20000}}));
}

TEST(RootFinder, TakesOfAnEndedThreadOnlyWhatTheLoaderNeeds) {
  RootFacts facts;
  facts.mappings = {Guard(0x10000, 0x11000), Anonymous(0x11000, 0x20000)};
  MadeMemory memory;
  memory.Write(0x1f6c0, 0x1f6c0);
  memory.Write(0x1f6d0, 0x1f6c0);
  EXPECT_EQ(RangesOf(FindRoots(facts, memory), "ended threads"), (Ranges{{0x1f6c0, 0x20000}}));
  EXPECT_EQ(RangesOf(FindRoots(facts, memory), "other memory"), Ranges{});
}

TEST(RootFinder, LeavesOutHeapsButNotWhatTheProgramMappedInThem) {
  RootFacts facts;
  facts.mappings = {Anonymous(0x10000, 0x20000, "[heap]"), Anonymous(0x4000000, 0x4030000),
                    Anonymous(0x9000000, 0x9001000)};
  facts.mappings[2].like_trackers = true;
  facts.mapped = {{0x18000, 0x19000}};
  MadeMemory memory;
  memory.Write(0x4000000, 0x4000030);  // a heap of an arena, which is in it
  const std::vector<Root> roots = FindRoots(facts, memory);
  ASSERT_EQ(roots.size(), 1u);
  EXPECT_EQ(RangesOf(roots, "memory that the program mapped"), (Ranges{{0x18000, 0x19000}}));
}

TEST(RootFinder, LooksAtNoUnknownMemoryOfAnotherAllocator) {
  RootFacts facts;
  facts.mappings = {Anonymous(0x11000, 0x20000)};
  facts.modules = {{"/lib/liballocator.so", 0x1000, {{0x5000, 0x6000}}},
                   {"/bin/program", 0x2000, {{0x7000, 0x8000}}}};
  EXPECT_EQ(RangesOf(FindRoots(facts, MadeMemory()), "other memory"), (Ranges{{0x11000, 0x20000}}));
  facts.allocator = "/lib/liballocator.so";
  facts.executable = "/bin/program";
  facts.program = "name";
  const std::vector<Root> roots = FindRoots(facts, MadeMemory());
  ASSERT_EQ(roots.size(), 1u);
  EXPECT_EQ(RangesOf(roots, "data of name"), (Ranges{{0x7000, 0x8000}}));
}

// glibc's struct malloc_state with bins that are empty, but for `full`.
MadeMemory Arena(uint64_t at, uint64_t full) {
  MadeMemory memory;
  for (uint64_t bin = 0; bin < 127; ++bin) {
    const uint64_t links = at + 0x70 + 16 * bin;
    const uint64_t head = bin < full ? 0x55550000 + bin * 64 : links - 16;
    memory.Write(links, head);
    memory.Write(links + 8, head);
  }
  memory.Write(at + 0x870, at);
  memory.Write(at + 0x888, 0x21000);
  memory.Write(at + 0x890, 0x21000);
  return memory;
}

TEST(RootFinder, FindsTheMainArenaByItsEmptyLists) {
  const AddressRange data = {0x10000, 0x14000};
  for (const uint64_t full : {0u, 1u, 60u}) {
    EXPECT_EQ(FindMainArena(data, Arena(0x11c40, full)), (AddressRange{0x11c40, 0x11c40 + 0x898}));
  }
  EXPECT_EQ(FindMainArena(data, Arena(0x11c40, 120)), AddressRange{});
  EXPECT_EQ(FindMainArena(data, MadeMemory()), AddressRange{});
}

TEST(AddressSpace, KnowsTheTrackersMappingsByTheirFlags) {
  const auto mappings = ParseMappings(
      "1000-2000 rw-p 00000000 00:00 0 \n"
      "VmFlags: rd wr mr mw me nr dd nh \n"
      "2000-3000 rw-s 00001000 fe:01 7 /a file\n"
      "VmFlags: rd wr mr mw me nr nh \n"
      "3000-4000 ---p 00000000 00:00 0 \n");
  ASSERT_EQ(mappings.size(), 3u);
  EXPECT_TRUE(mappings[0].like_trackers);
  EXPECT_FALSE(mappings[1].like_trackers);
  EXPECT_TRUE(mappings[1].shared);
  EXPECT_EQ(mappings[1].name, "/a file");
  EXPECT_EQ(mappings[1].offset, 0x1000u);
  EXPECT_FALSE(mappings[2].readable);
}

}  // namespace
}  // namespace memprof
