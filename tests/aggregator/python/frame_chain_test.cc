#include "aggregator/python/frame_chain.h"

#include <gtest/gtest.h>

#include <memory>

#include "tests/aggregator/python/fake_interpreter.h"

namespace memprof {
namespace {

class FrameChainTest : public testing::TestWithParam<uint32_t> {
 protected:
  FrameChain& Read(uintptr_t thread_state, uintptr_t finalizing = 0) {
    ReadChain(python_.layout(), python_.memory(), thread_state, finalizing, *chain_);
    return *chain_;
  }

  FakeInterpreter python_{GetParam()};
  std::unique_ptr<FrameChain> chain_ = std::make_unique<FrameChain>();
};
INSTANTIATE_TEST_SUITE_P(AllVersions, FrameChainTest,
                         testing::Values(8, 9, 10, 11, 12, 13, 14, 15));

TEST_P(FrameChainTest, HasTheFramesInnermostFirst) {
  const uintptr_t code = python_.Code(python_.Text("/a.py"), python_.Text("f"), 1);
  const uintptr_t outer = python_.Frame(0, code, 3);
  const FrameChain& chain = Read(python_.ThreadState(python_.Frame(outer, code, 5)));
  ASSERT_TRUE(chain.valid);
  ASSERT_EQ(chain.count, 2u);
  EXPECT_EQ(chain.frames[1].address, outer);
  EXPECT_EQ(chain.frames[0].code, code);
  EXPECT_EQ(InstructionOf(python_.layout(), chain.frames[0]), 5);
  EXPECT_EQ(InstructionOf(python_.layout(), chain.frames[1]), 3);
  EXPECT_FALSE(chain.cut);
}

TEST_P(FrameChainTest, IsEmptyWithoutAThreadState) {
  EXPECT_TRUE(Read(0).valid);
  EXPECT_EQ(Read(0).count, 0u);
}

TEST_P(FrameChainTest, IsEmptyWhileAnotherThreadEndsTheInterpreter) {
  const uintptr_t state = python_.ThreadState(python_.Frame(0, python_.New(400), 1));
  EXPECT_EQ(Read(state, state).count, 1u);
  EXPECT_EQ(Read(state, state + 8).count, 0u);
}

TEST_P(FrameChainTest, HasNoFramesIfAnAddressCanNotBeRead) {
  for (const uintptr_t wrong : {uintptr_t{8}, uintptr_t{0x7fff0000}, uintptr_t{1} << 63,
                                ~uintptr_t{0}, FakeInterpreter::kBase + 4}) {
    const FrameChain& chain = Read(python_.ThreadState(python_.Frame(wrong, python_.New(400), 1)));
    EXPECT_FALSE(chain.valid) << wrong;
    EXPECT_EQ(chain.count, 0u);
  }
  EXPECT_FALSE(Read(0x7fff0000).valid);
  EXPECT_FALSE(Read(3).valid);
}

TEST_P(FrameChainTest, HasNoFramesIfOneIsItsOwnCaller) {
  const uintptr_t frame = python_.Frame(0, python_.New(400), 1);
  python_.Set(frame + python_.layout().frame_previous, frame);
  EXPECT_FALSE(Read(python_.ThreadState(frame)).valid);
}

TEST_P(FrameChainTest, IsCutIfItGoesRoundInACircle) {
  const uintptr_t one = python_.Frame(0, python_.New(400), 1);
  const uintptr_t two = python_.Frame(one, python_.New(400), 1);
  python_.Set(one + python_.layout().frame_previous, two);
  const FrameChain& chain = Read(python_.ThreadState(two));
  EXPECT_TRUE(chain.cut);
  EXPECT_EQ(chain.count, kMaxPythonFrames);
}

TEST_P(FrameChainTest, HasNoInstructionOutsideTheCode) {
  PythonFrame frame = {};
  frame.code = 0x5000;
  frame.instruction = python_.layout().instruction_is_pointer ? 0x1000 : ~uintptr_t{0};
  EXPECT_EQ(InstructionOf(python_.layout(), frame), -1);
}

TEST(FrameChain, KeepsShimsWithoutCode) {
  for (const uint32_t minor : {12u, 13u, 14u, 15u}) {
    FakeInterpreter python(minor);
    FrameChain chain;
    const uintptr_t shim = python.Frame(0, python.New(400), 0, kShimOwner);
    ReadChain(python.layout(), python.memory(),
              python.ThreadState(python.Frame(shim, python.New(400), 1)), 0, chain);
    ASSERT_EQ(chain.count, 2u);
    EXPECT_NE(chain.frames[0].code, 0u);
    EXPECT_EQ(chain.frames[1].code, 0u);
  }
}

TEST(FrameChain, IsCutIfItHasShimsOnly) {
  FakeInterpreter python(12);
  const auto chain = std::make_unique<FrameChain>();
  const uintptr_t one = python.Frame(0, 0, 0, kShimOwner);
  const uintptr_t two = python.Frame(one, 0, 0, kShimOwner);
  python.Set(one + python.layout().frame_previous, two);
  ReadChain(python.layout(), python.memory(), python.ThreadState(two), 0, *chain);
  EXPECT_EQ(chain->count, FrameChain::kCapacity);
}

TEST(FrameChain, ReadsOnlySoManyActivations) {
  FakeInterpreter python(11);
  const auto chain = std::make_unique<FrameChain>();
  const uintptr_t state = python.ThreadState(0);
  const uintptr_t one = python.New(32);
  const uintptr_t two = python.New(32);
  python.Set(one + python.layout().cframe_before, two);
  python.Set(two + python.layout().cframe_before, one);
  python.Set(state + python.layout().thread_frame, one);
  ReadChain(python.layout(), python.memory(), state, 0, *chain);
  EXPECT_EQ(chain->cframe_count, FrameChain::kCapacity);
}

}  // namespace
}  // namespace memprof
