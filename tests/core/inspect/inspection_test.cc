#include "core/inspect/inspection.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "core/inspect/dominators.h"
#include "tests/core/inspect/made_memory.h"

namespace memprof {
namespace {

constexpr uint64_t kHeap = 0x100000;
constexpr uint64_t kData = 0x10000;

// Blocks of 64 bytes, one every 128; the cell is the site.
class Heap {
 public:
  uint32_t Add(uint32_t cell, uint64_t size = 64) {
    const auto block = static_cast<uint32_t>(blocks.size());
    blocks.push_back({kHeap + 128 * block, size, cell});
    return block;
  }
  void Point(uint32_t from, uint32_t to, uint64_t offset = 0) {
    memory.Write(blocks[from].address + 8 * used_[from]++, blocks[to].address + offset);
    targets[from].insert(to);
  }
  void PointFromRoot(uint32_t to, uint64_t offset = 0) {
    const uint64_t at = kData + 8 * held.size();
    memory.Write(at, blocks[to].address + offset);
    held.push_back(to);
  }
  std::vector<Root> Roots() const { return {{"data", {{kData, kData + 8 * held.size()}}, {}}}; }
  Inspection Look(const InspectOptions& options = {}) const {
    return Inspect(
        memory, blocks, Roots(), [](uint32_t cell) { return cell; }, options);
  }

  MadeMemory memory;
  std::vector<LiveBlock> blocks;
  std::vector<uint32_t> held;
  std::map<uint32_t, std::set<uint32_t>> targets;

 private:
  std::map<uint32_t, uint64_t> used_;
};

// By the sites' order.
std::vector<uint64_t> RetainedBySite(const Inspection& inspection) {
  std::vector<uint32_t> groups(inspection.sites.size());
  std::iota(groups.begin(), groups.end(), 0u);
  return RetainedBytes(inspection.retained, groups);
}

// What a path and those below it hold.
Count AllOf(const Inspection& inspection, uint32_t path) {
  Count all;
  for (uint32_t i = 0; i < inspection.paths.size(); ++i) {
    uint32_t at = i;
    while (at != path && at != 0) at = inspection.paths[at].parent;
    if (at == path) all += inspection.paths[i].own;
  }
  return all;
}

std::set<uint32_t> NaivelyReached(const Heap& heap, std::vector<uint32_t> from,
                                  uint32_t without = kNoBlock) {
  std::set<uint32_t> reached;
  while (!from.empty()) {
    const uint32_t block = from.back();
    from.pop_back();
    if (block == without || !reached.insert(block).second) continue;
    const auto at = heap.targets.find(block);
    if (at != heap.targets.end()) from.insert(from.end(), at->second.begin(), at->second.end());
  }
  return reached;
}

Heap RandomHeap(std::mt19937& engine) {
  const auto random = [&engine] { return static_cast<uint32_t>(engine()); };
  Heap heap;
  const uint32_t count = 1 + random() % 40;
  for (uint32_t i = 0; i < count; ++i) heap.Add(random() % 5, 8 * (1 + random() % 8));
  for (uint32_t i = 0; i < count; ++i) {
    for (uint64_t words = heap.blocks[i].size / 8; words > 0; --words) {
      if (random() % 4 == 0) heap.Point(i, random() % count);
    }
  }
  for (uint32_t i = random() % 4; i > 0; --i) heap.PointFromRoot(random() % count);
  return heap;
}

TEST(Inspection, SaysOfALostChainThatOnlyItsHeadIsLostDirectly) {
  Heap heap;
  const uint32_t a = heap.Add(1), b = heap.Add(2), c = heap.Add(2);
  heap.Point(b, c);
  heap.Point(a, b);
  const Inspection result = heap.Look();
  ASSERT_EQ(result.sites.size(), 2u);
  EXPECT_EQ(result.sites[0].figures.lost_directly, (Count{64, 1}));
  EXPECT_EQ(result.sites[1].figures.lost_directly, (Count{0, 0}));
  EXPECT_EQ(result.sites[1].figures.lost_indirectly, (Count{128, 2}));
  EXPECT_EQ(result.total.in_cycles, (Count{0, 0}));
}

TEST(Inspection, SaysOfALostCycleThatItsFirstBlockIsLostDirectly) {
  Heap heap;
  const uint32_t tail = heap.Add(3), a = heap.Add(1), b = heap.Add(2);
  heap.Point(a, b);
  heap.Point(b, a);
  heap.Point(b, tail);
  const Inspection result = heap.Look();
  EXPECT_EQ(result.sites[0].figures.lost_directly, (Count{64, 1}));
  EXPECT_EQ(result.sites[1].figures.lost_indirectly, (Count{64, 1}));
  EXPECT_EQ(result.sites[2].figures.lost_indirectly, (Count{64, 1}));
  EXPECT_EQ(result.total.in_cycles, (Count{128, 2}));
}

TEST(Inspection, TakesAPointerIntoTheMiddleAndNotBehindTheEnd) {
  Heap heap;
  heap.PointFromRoot(heap.Add(1), 63);
  heap.PointFromRoot(heap.Add(2), 64);
  const Inspection result = heap.Look();
  EXPECT_EQ(result.sites[0].figures.reachable, (Count{64, 1}));
  EXPECT_EQ(result.sites[1].figures.lost_directly, (Count{64, 1}));
}

TEST(Inspection, LooksAtRegistersAndNotAtLiveBlocksInARoot) {
  Heap heap;
  const uint32_t a = heap.Add(1), b = heap.Add(2), c = heap.Add(3);
  heap.Point(a, b);
  const std::vector<Root> roots = {{"all of it", {{kHeap, kHeap + 4096}}, {}},
                                   {"registers", {}, {7, heap.blocks[c].address}}};
  const Inspection result =
      Inspect(heap.memory, heap.blocks, roots, [](uint32_t cell) { return cell; });
  EXPECT_EQ(result.total.lost_directly, (Count{64, 1}));
  EXPECT_EQ(result.total.lost_indirectly, (Count{64, 1}));
  EXPECT_EQ(result.total.reachable, (Count{64, 1}));
}

TEST(Inspection, FoldsTheNodesOfAListIntoOnePath) {
  Heap heap;
  const uint32_t owner = heap.Add(1);
  heap.PointFromRoot(owner);
  uint32_t last = owner;
  for (int i = 0; i < 10; ++i) {
    const uint32_t node = heap.Add(2);
    heap.Point(last, node);
    heap.Point(node, heap.Add(3));
    last = node;
  }
  const Inspection result = heap.Look();
  ASSERT_EQ(result.paths.size(), 5u);
  EXPECT_EQ(AllOf(result, 0), (Count{21 * 64, 21}));
  EXPECT_TRUE(result.paths[1].is_root);
  for (size_t i = 2; i < 5; ++i) {
    EXPECT_EQ(result.paths[i].parent, i - 1);
    EXPECT_EQ(result.paths[i].what, i - 2);
  }
  EXPECT_EQ(result.paths[3].own, (Count{640, 10}));
  EXPECT_EQ(AllOf(result, 3), (Count{1280, 20}));
  EXPECT_EQ(RetainedBySite(result), (std::vector<uint64_t>{21 * 64, 20 * 64, 10 * 64}));
  // The nodes and their contents together.
  EXPECT_EQ(RetainedBytes(result.retained, {0, 1, 1}), (std::vector<uint64_t>{21 * 64, 20 * 64}));
}

TEST(Inspection, CallsLostOnlyWhatTwoLooksFindLost) {
  Heap heap;
  const uint32_t always = heap.Add(1), once = heap.Add(2), below = heap.Add(3);
  heap.Point(once, below);
  const std::vector<LostBlock> before = {{heap.blocks[always].address, 64, 1},
                                         {heap.blocks[below].address, 64, 3}};
  InspectOptions options;
  options.lost_before = &before;
  const Inspection result = heap.Look(options);
  EXPECT_EQ(result.total.lost_directly, (Count{64, 1}));
  EXPECT_EQ(result.total.unknown, (Count{128, 2}));
  EXPECT_EQ(result.lost, std::vector<LostBlock>({before[0]}));
  EXPECT_EQ(RetainedBySite(result)[1], 128u);
}

TEST(Inspection, KeepsInheritedBlocksAndThoseWithoutASiteApart) {
  Heap heap;
  const uint32_t inherited = heap.Add(1), held = heap.Add(2), nowhere = heap.Add(3);
  heap.blocks[inherited].inherited = true;
  heap.PointFromRoot(inherited);
  heap.PointFromRoot(nowhere);
  heap.Point(inherited, held);
  const Inspection result = Inspect(heap.memory, heap.blocks, heap.Roots(),
                                    [](uint32_t cell) { return cell == 3 ? kNoSite : cell; });
  EXPECT_EQ(result.total.inherited, (Count{64, 1}));
  EXPECT_EQ(result.total.unknown, (Count{64, 1}));
  EXPECT_EQ(result.total.reachable, (Count{64, 1}));
  EXPECT_EQ(AllOf(result, 0), result.total.reachable);
}

TEST(Inspection, AgreesWithANaiveModel) {
  std::mt19937 random(11);
  for (unsigned round = 0; round < 600; ++round) {
    const Heap heap = RandomHeap(random);
    const std::set<uint32_t> reached = NaivelyReached(heap, heap.held);
    InspectOptions options;
    options.threads = 1 + round % 3;
    const HeapGraph graph = BuildGraph(heap.memory, heap.blocks, heap.Roots(), options.threads);
    const Reachability reach = FindReachable(graph);
    std::vector<uint32_t> direct;
    for (uint32_t block = 0; block < heap.blocks.size(); ++block) {
      ASSERT_EQ(reach.of[block] == Reach::kReachable, reached.count(block) != 0);
      if (reach.of[block] == Reach::kLostDirectly) direct.push_back(block);
    }
    // From the direct losses all lost blocks are reached, and without any of them not.
    std::set<uint32_t> lost;
    for (const uint32_t block : NaivelyReached(heap, direct)) {
      if (reached.count(block) == 0) lost.insert(block);
    }
    ASSERT_EQ(lost.size() + reached.size(), heap.blocks.size());
    for (const uint32_t block : direct) {
      std::vector<uint32_t> others;
      for (const uint32_t other : direct) {
        if (other != block) others.push_back(other);
      }
      ASSERT_EQ(NaivelyReached(heap, others).count(block), 0u);
    }
    // A block retains what nothing reaches without it.
    const Dominators dominators = FindDominators(graph);
    std::map<uint32_t, std::set<uint32_t>> retained;
    for (size_t i = 1; i < dominators.nodes.size(); ++i) {
      for (uint32_t at = static_cast<uint32_t>(i); at != 0; at = dominators.of[at]) {
        if (dominators.nodes[i] < graph.blocks && dominators.nodes[at] < graph.blocks) {
          retained[dominators.nodes[at]].insert(dominators.nodes[i]);
        }
      }
    }
    for (const uint32_t block : reached) {
      const std::set<uint32_t> without = NaivelyReached(heap, heap.held, block);
      for (const uint32_t other : reached) {
        ASSERT_EQ(retained[block].count(other) != 0, without.count(other) == 0);
      }
    }
    // All figures sum up.
    const Inspection result = heap.Look(options);
    HeldFigures sum;
    uint64_t bytes = 0;
    for (const InspectedSite& site : result.sites) sum += site.figures;
    for (const LiveBlock& block : heap.blocks) bytes += block.size;
    ASSERT_EQ(sum, result.total);
    ASSERT_EQ(result.total.live(), (Count{bytes, heap.blocks.size()}));
    Count own;
    for (size_t i = 0; i < result.paths.size(); ++i) {
      own += result.paths[i].own;
      ASSERT_TRUE(i == 0 || result.paths[i].parent < i);
    }
    ASSERT_EQ(own, result.total.reachable);
    ASSERT_EQ(AllOf(result, 0), own);
    // A site retains its reachable blocks, and each block that one of them retains.
    const std::vector<uint64_t> by_site = RetainedBySite(result);
    for (size_t i = 0; i < result.sites.size(); ++i) {
      std::set<uint32_t> all;
      for (const uint32_t block : reached) {
        if (heap.blocks[block].cell == result.sites[i].site)
          all.insert(retained[block].begin(), retained[block].end());
      }
      uint64_t expected = 0;
      for (const uint32_t block : all) expected += heap.blocks[block].size;
      ASSERT_EQ(by_site[i], expected);
    }
  }
}

constexpr uint64_t kTouched = kHeap + (uint64_t{1} << 45) + 8;

class VastMemory : public MadeMemory {
 public:
  uint64_t SkipZeros(uint64_t begin, uint64_t end) const override {
    return begin <= kTouched ? kTouched : end;
  }
};

TEST(Inspection, SkipsWhatWasNeverTouchedOfAVastBlock) {
  VastMemory memory;
  memory.Write(kTouched, 0x10010);
  const std::vector<LiveBlock> blocks = {{0x10000, 64, 1}, {kHeap, uint64_t{1} << 46, 2}};
  const Inspection result =
      Inspect(memory, blocks, {{"register", {}, {kHeap}}}, [](uint32_t cell) { return cell; });
  EXPECT_EQ(result.total.reachable.allocations, 2u);
}

TEST(Inspection, OfALongListTakesNoStack) {
  MadeMemory memory;
  std::vector<LiveBlock> blocks;
  constexpr uint32_t kNodes = 300'000;
  for (uint32_t i = 0; i < kNodes; ++i) {
    blocks.push_back({kHeap + 16 * i, 16, 1});
    memory.Write(kHeap + 16 * i, kHeap + 16 * ((i + 1) % kNodes));
  }
  const auto same = [](uint32_t cell) { return cell; };
  EXPECT_EQ(Inspect(memory, blocks, {}, same).total.in_cycles, (Count{16 * kNodes, kNodes}));
  const Inspection held = Inspect(memory, blocks, {{"register", {}, {kHeap}}}, same);
  EXPECT_EQ(held.total.reachable, (Count{16 * kNodes, kNodes}));
  EXPECT_EQ(RetainedBySite(held)[0], 16u * kNodes);
  EXPECT_EQ(held.paths.size(), 3u);
}

}  // namespace
}  // namespace memprof
