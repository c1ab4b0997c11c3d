// Stacks that look like the remembered one at the frame where the walk meets it, but differ. Stale
// return addresses are left where the old frames were, so that a reuse with too little evidence is
// caught. StackProbe compares every capture with a walk from scratch.

#include <gtest/gtest.h>

#include "aggregator/unwind/stack_capture.h"
#include "tests/aggregator/unwind/call_shapes.h"
#include "tests/aggregator/unwind/stack_probe.h"

namespace memprof::test {
namespace {

namespace fp = with_frame_pointer;
namespace nofp = without_frame_pointer;

class StackReuse : public ::testing::Test {
 protected:
  StackReuse() { g_probe = &probe_; }
  ~StackReuse() override {
    g_probe = nullptr;
    EXPECT_EQ(probe_.oracle_lost(), 0u);
  }

  // Slots of the last capture, innermost first.
  uintptr_t SlotFromLeaf(size_t index) const {
    const auto& slots = probe_.last().slots;
    return slots[slots.size() - 1 - index];
  }

  StackProbe probe_;
};

void P() {
  ProbeHere();
  __asm__ volatile("");
}

[[gnu::noinline]] void Root(int rounds) {
  for (int i = 0; i < rounds; ++i) {
    P();
    P();
  }
  __asm__ volatile("");
}

TEST_F(StackReuse, TellsTwoCallSitesOfOneFunctionApart) {
  Root(3);
  EXPECT_EQ(probe_.captures(), 6u);
  EXPECT_GT(probe_.unchanged(), 0u);
}

// Padding and the callee's frame together: while one grows and the other shrinks, the frames below
// stay in place.
constexpr int kTotal = 512;

// Padded's frame pointer finds its caller; the callee's slot is the same, its rbp is not.
TEST_F(StackReuse, ComparesTheRbpThatTheNextStepReads) {
  uintptr_t leaf_slot = 0;
  for (int padding = 16; padding < 256; padding += 16) {
    fp::Padded(padding, fp::VariableOnce, kTotal - padding, ProbeHere);
    if (leaf_slot != 0) {
      EXPECT_EQ(SlotFromLeaf(0), leaf_slot);
    }
    leaf_slot = SlotFromLeaf(0);
  }
}

// The same with frames in between that leave rbp alone.
TEST_F(StackReuse, ComparesTheRbpThatALaterStepReads) {
  uintptr_t leaf_slot = 0;
  for (int padding = 16; padding < 256; padding += 16) {
    fp::Padded(padding, fp::VariableOnce, kTotal - padding, ProbeBelowRecursion);
    if (leaf_slot != 0) {
      EXPECT_EQ(SlotFromLeaf(0), leaf_slot);
    }
    leaf_slot = SlotFromLeaf(0);
  }
}

// A frame is met again through a callee that saved rbp elsewhere than the remembered one.
TEST_F(StackReuse, LooksForTheSavedRbpWhereTheLatestCalleeSavedIt) {
  const auto capture = [](int padding, Leaf leaf) {
    fp::Padded(padding, fp::VariableOnce, kTotal - padding, leaf);
  };
  for (int padding = 16; padding < 256; padding += 16) {
    capture(padding, [] { nofp::ManyRegisters(0, 1, 2, 3, ProbeHere); });
    capture(padding, [] { fp::UntouchedFrame(ProbeHere); });
    capture(padding + 16, [] { fp::UntouchedFrame(ProbeHere); });
  }
  EXPECT_EQ(probe_.captures(), 45u);
}

// A function that realigns its stack keeps its place while its caller moves: its CFA is a word in
// its frame, which no rule of the table describes.
TEST_F(StackReuse, RepeatsTheStepsOfRealignedFrames) {
  uintptr_t leaf_slot = 0;
  int in_place = 0;
  for (int padding = 16; padding < 512; padding += 16) {
    fp::Padded(padding, nofp::RealignedOnce, 64, ProbeHere);
    if (SlotFromLeaf(0) == leaf_slot) ++in_place;
    leaf_slot = SlotFromLeaf(0);
  }
  EXPECT_GT(in_place, 10);
}

TEST_F(StackReuse, ReusesTheFramesAboveARealignedOne) {
  nofp::Recurse(30, [] {
    for (int i = 0; i < 6; ++i) nofp::RealignedVariable(1, 64, ProbeHere);
  });
  EXPECT_GT(probe_.unchanged(), 5u * 30u);
}

}  // namespace
}  // namespace memprof::test
