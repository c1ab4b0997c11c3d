#include "aggregator/tables/stack_table.h"

#include <gnu/libc-version.h>
#include <gtest/gtest.h>
#include <link.h>

#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "aggregator/tables/shared_cells.h"
#include "tests/aggregator/tables/test_region.h"

namespace memprof {
namespace {

// Pcs that no module has: the table takes them as code without a file.
class StackTableTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(ModuleTable::Init());
    ASSERT_TRUE(table_.Init());
  }

  uint32_t Site(const std::vector<uint64_t>& pcs, uint32_t name = 0, uint32_t unchanged = 0) {
    for (size_t i = 0; i < pcs.size(); ++i) memory_->frames[i].pc = pcs[i];
    return table_.Site(*memory_, {static_cast<uint32_t>(pcs.size()), unchanged, false, false},
                       name);
  }
  const SiteRecord& Record(uint32_t site) {
    return region_.get().Records<SiteRecord>(Table::kSites)[site];
  }
  const NodeRecord& NodeAt(uint32_t node) {
    return region_.get().Records<NodeRecord>(Table::kNodes)[node];
  }

  TestRegion region_;
  ModuleTable modules_{region_.get()};
  StackTable table_{region_.get(), modules_};
  std::unique_ptr<StackMemory> memory_ = std::make_unique<StackMemory>();
};

TEST_F(StackTableTest, GivesEqualStacksOneSite) {
  const uint32_t site = Site({0x5000, 0x6000, 0x7000});
  EXPECT_EQ(Site({0x5000, 0x6000, 0x7000}), site);
  EXPECT_NE(Site({0x5000, 0x6000, 0x7001}), site);
  EXPECT_NE(Site({0x5000, 0x7000}), site);
  EXPECT_NE(Site({0x5000, 0x6000}), site);
}

TEST_F(StackTableTest, KeepsTheFramesRootFirst) {
  const uint32_t leaf = Record(Site({0x5000, 0x6000})).node;
  EXPECT_EQ(NodeAt(leaf).pc, 0x6000u);
  EXPECT_EQ(NodeAt(NodeAt(leaf).parent).pc, 0x5000u);
  EXPECT_EQ(NodeAt(NodeAt(leaf).parent).parent, 0u);
}

TEST_F(StackTableTest, GoesOnFromTheFramesThatAreUnchanged) {
  const uint32_t site = Site({0x5000, 0x6000, 0x7000});
  Site({0x5000, 0x6000, 0x8000});
  // Only the leaf is looked up: the pcs before it are not even read.
  memory_->frames[0].pc = memory_->frames[1].pc = 0xdead000;
  memory_->frames[2].pc = 0x7000;
  EXPECT_EQ(table_.Site(*memory_, {3, 2, false, false}, 0), site);
}

TEST_F(StackTableTest, SeparatesThreadNames) {
  const uint32_t a = table_.ThreadName("io\0\0\0\0\0\0\0\0\0\0\0\0\0");
  const uint32_t b = table_.ThreadName("worker\0\0\0\0\0\0\0\0\0");
  EXPECT_NE(a, b);
  EXPECT_EQ(table_.ThreadName("io\0\0\0\0\0\0\0\0\0\0\0\0\0"), a);
  const uint32_t site_a = Site({0x5000}, a);
  const uint32_t site_b = Site({0x5000}, b);
  EXPECT_NE(site_a, site_b);
  EXPECT_EQ(Record(site_a).node, Record(site_b).node);
  EXPECT_EQ(Site({0x5000}, a), site_a);
  EXPECT_EQ(Site({0x5000}, b), site_b);
}

TEST_F(StackTableTest, TakesNoRecordForANameBeforeItIsWritten) {
  const Region& region = region_.get();
  // As another thread leaves it between taking and writing.
  const uint32_t unwritten = region.Take(Table::kThreadNames);
  auto* names = region.Records<ThreadNameRecord>(Table::kThreadNames);
  const char nothing[16] = {};
  const uint32_t empty = table_.ThreadName(nothing);
  EXPECT_NE(empty, unwritten);
  EXPECT_EQ(table_.ThreadName(nothing), empty);
  EXPECT_STREQ(names[empty].name, "");
  // The half that is written first.
  memcpy(names[unwritten].name + 8, "-thread", 8);
  EXPECT_NE(table_.ThreadName("a long -thread\0"), unwritten);
  EXPECT_NE(table_.ThreadName(nothing), unwritten);
}

TEST_F(StackTableTest, GivesEqualNamesOneIdWhateverFollowsThem) {
  const uint32_t a = table_.ThreadName("io\0\0\0\0\0\0\0\0\0\0\0\0\0");
  EXPECT_EQ(table_.ThreadName("io\0of another\0\0"), a);
}

TEST_F(StackTableTest, PutsThe257thNameUnderOtherThreads) {
  char name[16] = "thread-000";
  for (int i = 0; i < 256; ++i) {
    name[7] = static_cast<char>('0' + i / 100);
    name[8] = static_cast<char>('0' + i / 10 % 10);
    name[9] = static_cast<char>('0' + i % 10);
    EXPECT_NE(table_.ThreadName(name), 0u);
  }
  EXPECT_EQ(table_.ThreadName("one too many\0\0\0"), 0u);
}

TEST_F(StackTableTest, MarksCutStacksWithARowAtTheRoot) {
  memory_->frames[0].pc = 0x5000;
  const uint32_t cut = table_.Site(*memory_, {1, 0, true, false}, 0);
  EXPECT_EQ(NodeAt(NodeAt(Record(cut).node).parent).pc, kPcTruncated);
  const uint32_t unknown = table_.Site(*memory_, {1, 0, false, true}, 0);
  EXPECT_EQ(NodeAt(NodeAt(Record(unknown).node).parent).pc, kPcIncomplete);
  const uint32_t none = table_.Site(*memory_, {0, 0, false, false}, 0);
  EXPECT_EQ(NodeAt(Record(none).node).pc, kPcNoStack);
}

TEST_F(StackTableTest, BooksUnderOneRowWhenFullAndCountsIt) {
  uint32_t site = 1;
  for (uint64_t pc = 0x10000; site != kTablesFullSite; ++pc) {
    ASSERT_LT(pc, 0x1000000u);
    site = Site({pc});
  }
  EXPECT_EQ(region_.get().header().tables_full_events, 1u);
  EXPECT_EQ(NodeAt(Record(kTablesFullSite).node).pc, kPcTablesFull);
  EXPECT_NE(Site({0x10000}), kTablesFullSite) << "stacks that are known stay known";
}

TEST_F(StackTableTest, FindsAModuleByAnyAddressInIt) {
  const auto found = modules_.Find(reinterpret_cast<uint64_t>(&gnu_get_libc_version));
  const uint32_t module = found.module;
  ASSERT_NE(module, kNoModule);
  EXPECT_FALSE(found.replaced || found.again);
  EXPECT_EQ(modules_.Find(reinterpret_cast<uint64_t>(&gnu_get_libc_release)).module, module);
  const ModuleRecord& record = region_.get().Records<ModuleRecord>(Table::kModules)[module];
  EXPECT_EQ(record.build_id_bytes, 20u);
  EXPECT_EQ(modules_.Find(0x5000).module, kNoModule);
  EXPECT_EQ(region_.get().header().unnamed_frames, 0u) << "code of no file is no trouble";
}

// The loader's record, the extent and the bias are as before, but the name is another one: as if
// another module had been loaded at the same place, and no unload was seen.
TEST_F(StackTableTest, TellsAFileThatTookTheExactPlaceOfAnother) {
  const auto pc = reinterpret_cast<uint64_t>(&gnu_get_libc_version);
  dl_find_object found;
  ASSERT_EQ(_dl_find_object(reinterpret_cast<void*>(pc), &found), 0);
  const uint32_t outer = Site({0x5000, pc - 1});
  const uint32_t before = Site({0x5000, pc - 1, pc});
  char name[] = "/another/file.so";
  char* const real_name = found.dlfo_link_map->l_name;
  found.dlfo_link_map->l_name = name;
  EXPECT_EQ(Site({0x5000, pc - 1, pc}), before) << "nothing new was seen";
  const uint32_t after = Site({0x5000, pc - 1, pc + 1});
  found.dlfo_link_map->l_name = real_name;
  const NodeRecord& leaf = NodeAt(Record(after).node);
  const NodeRecord& old_leaf = NodeAt(Record(before).node);
  EXPECT_NE(leaf.module, old_leaf.module);
  EXPECT_EQ(NodeAt(leaf.parent).module, leaf.module) << "the frame before as well";
  EXPECT_NE(leaf.parent, Record(outer).node);
  EXPECT_TRUE(modules_.IsUnloaded(old_leaf.module));
}

// As if a plugin were unloaded and loaded again at its place, 10,000 times.
TEST_F(StackTableTest, GivesAFileThatComesBackWhereItWasItsRecordAndSites) {
  const auto pc = reinterpret_cast<uint64_t>(&gnu_get_libc_version);
  dl_find_object found;
  ASSERT_EQ(_dl_find_object(reinterpret_cast<void*>(pc), &found), 0);
  const uint32_t site = Site({0x5000, pc});
  const uint32_t count = region_.get().count(Table::kModules);
  uintptr_t& bias = found.dlfo_link_map->l_addr;
  const uintptr_t real_bias = bias;
  for (int i = 0; i < 10000; ++i) {
    bias = real_bias + 1;  // the loader knows it no more as it was
    ASSERT_TRUE(modules_.MarkUnloaded());
    bias = real_bias;
    ASSERT_EQ(Site({0x5000, pc}), site);
  }
  EXPECT_EQ(region_.get().count(Table::kModules), count);
  EXPECT_EQ(region_.get().header().unnamed_frames, 0u);
  EXPECT_FALSE(modules_.MarkUnloaded());
}

TEST_F(StackTableTest, CountsTheFramesOfFilesThatFindNoRoom) {
  const Region& region = region_.get();
  while (region.Take(Table::kModules) != kNoRecord) {
  }
  const uint32_t site = Site({reinterpret_cast<uint64_t>(&gnu_get_libc_version)});
  EXPECT_EQ(NodeAt(Record(site).node).module, kNoModule);
  EXPECT_EQ(region.header().unnamed_frames, 1u);
}

TEST_F(StackTableTest, CountsTheFramesOfFilesWhosePathsFindNoRoom) {
  const Region& region = region_.get();
  ASSERT_NE(region.Take(Table::kStrings, region.capacity(Table::kStrings)), kNoRecord);
  const uint32_t site = Site({reinterpret_cast<uint64_t>(&gnu_get_libc_version)});
  EXPECT_EQ(NodeAt(Record(site).node).module, kNoModule);
  EXPECT_EQ(region.header().unnamed_frames, 1u);
}

TEST_F(StackTableTest, KeepsTheSharedCellOfEverySiteWhereTheCellsEnd) {
  const Region& region = region_.get();
  while (TakeOwnChunk(region) != kNoRecord) {
  }
  // The rest of site 0's group has its room; the next group has none.
  for (uint64_t pc = 0x10000; pc < 0x10000 + kCellsPerChunk - 1; ++pc) {
    ASSERT_NE(Site({pc}), kTablesFullSite);
  }
  EXPECT_EQ(Site({0x20000}), kTablesFullSite);
  EXPECT_EQ(region.header().tables_full_events, 1u);
}

TEST_F(StackTableTest, GivesThreadsThatMeetTheSameStacksTheSameFigures) {
  std::vector<std::thread> threads;
  std::vector<std::vector<uint64_t>> leaves(4);
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      auto memory = std::make_unique<StackMemory>();
      for (uint64_t i = 0; i < 3000; ++i) {
        memory->frames[0].pc = 0x5000;
        memory->frames[1].pc = 0x6000 + i;
        const uint32_t site = table_.Site(*memory, {2, 0, false, false}, 0);
        leaves[t].push_back(NodeAt(Record(site).node).pc);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& own : leaves) {
    for (uint64_t i = 0; i < own.size(); ++i) ASSERT_EQ(own[i], 0x6000 + i);
  }
}

}  // namespace
}  // namespace memprof
