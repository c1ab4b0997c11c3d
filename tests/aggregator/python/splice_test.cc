// Python frames among native ones: their nodes, and what stays from one stack to the next.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "aggregator/python/frame_places.h"
#include "aggregator/python/python_stack.h"
#include "aggregator/tables/stack_table.h"
#include "tests/aggregator/python/fake_interpreter.h"
#include "tests/aggregator/tables/test_region.h"

namespace memprof {
namespace {

struct Frame {
  uint64_t word;
  int32_t after;
};

class SpliceTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(ModuleTable::Init());
    ASSERT_TRUE(table_.Init());
  }

  // The words of the site's stack, root first. `python` is innermost first.
  std::vector<uint64_t> Stack(const std::vector<uint64_t>& native, const std::vector<Frame>& python,
                              bool cut = false, uint32_t unchanged = 0) {
    for (size_t i = 0; i < native.size(); ++i) memory_->frames[i].pc = native[i];
    chain_->count = 0;
    chain_->cut = cut;
    for (const Frame& frame : python) {
      chain_->frames[chain_->count].word = frame.word;
      chain_->frames[chain_->count++].after = frame.after;
    }
    const uint32_t site = table_.Site(
        *memory_, {static_cast<uint32_t>(native.size()), unchanged, false, false}, 0, chain_.get());
    std::vector<uint64_t> words;
    const auto* nodes = region_.get().Records<NodeRecord>(Table::kNodes);
    uint32_t node = region_.get().Records<SiteRecord>(Table::kSites)[site].node;
    for (; node != 0; node = nodes[node].parent) words.insert(words.begin(), nodes[node].pc);
    return words;
  }

  TestRegion region_;
  ModuleTable modules_{region_.get()};
  StackTable table_{region_.get(), modules_};
  std::unique_ptr<StackMemory> memory_ = std::make_unique<StackMemory>();
  std::unique_ptr<FrameChain> chain_ = std::make_unique<FrameChain>();
};

constexpr uint64_t kF = PythonWord(0, 1), kG = PythonWord(1, 1), kH = PythonWord(2, 1);

TEST_F(SpliceTest, FollowsTheNativeFrameThatRunsIt) {
  EXPECT_EQ(Stack({0x5000, 0x6000, 0x7000}, {{kH, 1}, {kG, 0}, {kF, 0}}),
            (std::vector<uint64_t>{0x5000, kF, kG, 0x6000, kH, 0x7000}));
}

TEST_F(SpliceTest, PrecedesAllNativeFramesIfItsOwnIsUnknown) {
  EXPECT_EQ(Stack({0x5000}, {{kG, 0}, {kF, -1}}), (std::vector<uint64_t>{kF, 0x5000, kG}));
}

TEST_F(SpliceTest, LeavesOutFramesWithoutAWord) {
  EXPECT_EQ(Stack({0x5000}, {{0, 0}, {kF, 0}}), (std::vector<uint64_t>{0x5000, kF}));
}

TEST_F(SpliceTest, GoesOnFromUnchangedFrames) {
  const auto whole = Stack({0x5000, 0x6000, 0x7000}, {{kG, 1}, {kF, 0}});
  EXPECT_EQ(Stack({0x5000, 0x6000, 0x7000}, {{kG, 1}, {kF, 0}}, false, 2), whole);
  EXPECT_EQ(Stack({0x5000, 0x6000, 0x7000}, {{kG, 1}, {kF, 0}}, false, 1), whole);
  EXPECT_EQ(Stack({0x5000, 0x6000, 0x7000}, {{kH, 1}, {kF, 0}}, false, 1),
            (std::vector<uint64_t>{0x5000, kF, 0x6000, kH, 0x7000}));
}

TEST_F(SpliceTest, HasNoGapIfTheChainIsCut) {
  EXPECT_EQ(Stack({0x5000, 0x6000, 0x7000}, {{kG, 1}, {kF, 1}}, true),
            (std::vector<uint64_t>{kPcTruncated, kF, kG, 0x7000}));
}

// --- what is unchanged ---------------------------------------------------------------------------

class UnchangedTest : public testing::Test {
 protected:
  static void Fill(FrameChain& chain, const std::vector<Frame>& frames, bool cut = false) {
    chain.count = 0;
    chain.cut = cut;
    for (const Frame& frame : frames) {
      chain.frames[chain.count].word = frame.word;
      chain.frames[chain.count++].after = frame.after;
    }
  }
  uint32_t Unchanged(const std::vector<Frame>& before, const std::vector<Frame>& now) {
    Fill(*before_, before);
    Fill(*now_, now);
    return UnchangedUpTo(*before_, *now_, 5);
  }

  std::unique_ptr<FrameChain> before_ = std::make_unique<FrameChain>();
  std::unique_ptr<FrameChain> now_ = std::make_unique<FrameChain>();
};

TEST_F(UnchangedTest, IsAllOfItIfThePythonFramesAreTheSame) {
  EXPECT_EQ(Unchanged({}, {}), 5u);
  EXPECT_EQ(Unchanged({{kG, 3}, {kF, 2}}, {{kG, 3}, {kF, 2}}), 5u);
}

TEST_F(UnchangedTest, EndsWhereTheFirstOtherFrameBelongs) {
  EXPECT_EQ(Unchanged({{kG, 3}, {kF, 2}}, {{kH, 3}, {kF, 2}}), 3u);
  EXPECT_EQ(Unchanged({{kG, 3}, {kF, 2}}, {{kG, 3}, {kH, 2}}), 2u);
  EXPECT_EQ(Unchanged({{kG, 3}, {kF, 2}}, {{kF, 2}}), 3u);
  EXPECT_EQ(Unchanged({{kF, 2}}, {{kG, 4}, {kF, 2}}), 4u);
  EXPECT_EQ(Unchanged({{kG, 4}, {kF, 2}}, {{kG, 3}, {kF, 2}}), 3u);
  EXPECT_EQ(Unchanged({{kF, -1}}, {}), 0u);
}

TEST_F(UnchangedTest, IsNothingIfAChainIsCut) {
  Fill(*before_, {{kF, 2}}, true);
  Fill(*now_, {{kF, 2}});
  EXPECT_EQ(UnchangedUpTo(*before_, *now_, 5), 0u);
}

// --- where frames belong -------------------------------------------------------------------------

// Native frames from 0x9000 downwards, 0x1000 each; frame i is from its slot to its caller's.
std::vector<RememberedFrame> Native(size_t depth) {
  std::vector<RememberedFrame> frames(depth);
  for (size_t i = 0; i < depth; ++i) frames[i].slot = 0x9000 - 0x1000 * uintptr_t{i};
  return frames;
}

std::vector<int32_t> Places(uint32_t minor, const FrameChain& read, size_t depth) {
  FakeInterpreter python(minor);
  auto chain = std::make_unique<FrameChain>(read);
  const auto native = Native(depth);
  PlaceFrames(python.layout(), EvalCode(), native.data(), static_cast<uint32_t>(depth), *chain);
  std::vector<int32_t> places;
  for (uint32_t i = 0; i < chain->count; ++i) places.push_back(chain->frames[i].after);
  return places;
}

TEST(FramePlaces, AreThoseOfTheShims) {
  auto chain = std::make_unique<FrameChain>();
  // f, g, shim in frame 3; h, shim in frame 1
  const uintptr_t addresses[] = {0x10, 0x20, 0x6800, 0x30, 0x8100};
  for (const uintptr_t address : addresses) {
    chain->frames[chain->count].address = address;
    chain->frames[chain->count++].code = address < 0x1000 ? 0x5000 : 0;
  }
  EXPECT_EQ(Places(12, *chain, 5), (std::vector<int32_t>{3, 3, 3, 1, 1}));
  EXPECT_EQ(Places(12, *chain, 3), (std::vector<int32_t>{-1, -1, -1, -1, -1}));
}

TEST(FramePlaces, AreThoseOfTheActivationsRecords) {
  auto chain = std::make_unique<FrameChain>();
  for (const uintptr_t address : {uintptr_t{0x10}, uintptr_t{0x20}, uintptr_t{0x30}}) {
    chain->frames[chain->count].address = address;
    chain->frames[chain->count++].code = 0x5000;
  }
  // An activation that has no frame of its own yet; one with two frames; one with the last.
  chain->cframes[0] = {0x5800, 0x10};
  chain->cframes[1] = {0x6800, 0x10};
  chain->cframes[2] = {0x8100, 0x30};
  chain->cframe_count = 3;
  EXPECT_EQ(Places(11, *chain, 5), (std::vector<int32_t>{3, 3, 1}));
}

}  // namespace
}  // namespace memprof
