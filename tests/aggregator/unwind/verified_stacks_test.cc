// VerifiedStacks beside walks from scratch (StackProbe): what it knows is right, and it knows what
// came before.

#include "aggregator/unwind/verified_stacks.h"

#include <gtest/gtest.h>

#include "tests/aggregator/unwind/call_shapes.h"
#include "tests/aggregator/unwind/stack_probe.h"

namespace memprof::test {
namespace {

namespace fp = with_frame_pointer;
namespace nofp = without_frame_pointer;

class VerifiedStacksTest : public ::testing::Test {
 protected:
  VerifiedStacksTest() { g_probe = &probe_; }
  ~VerifiedStacksTest() override { g_probe = nullptr; }

  StackProbe probe_;
};

[[gnu::noinline]] void P() {
  ProbeHere();
  __asm__ volatile("");
}

[[gnu::noinline]] void Twice() {
  P();
  P();
  __asm__ volatile("");
}

TEST_F(VerifiedStacksTest, KnowTheStackThatComesAgain) {
  Repeat(5, ProbeHere);
  EXPECT_EQ(probe_.captures(), 5u);
  EXPECT_EQ(probe_.verified(), 4u);
}

TEST_F(VerifiedStacksTest, TellTwoCallSitesOfOneFunctionApart) {
  Repeat(5, Twice);
  EXPECT_EQ(probe_.captures(), 10u);
  EXPECT_EQ(probe_.verified(), 8u);
}

// 2^6 stacks with the same leaf and slots, told apart by the words between.
[[gnu::noinline]] void Shape(unsigned choices, int left);
[[gnu::noinline]] void A(unsigned choices, int left) {
  Shape(choices, left);
  __asm__ volatile("");
}
[[gnu::noinline]] void Shape(unsigned choices, int left) {
  if (left == 0) {
    P();
  } else if ((choices & 1) != 0) {
    A(choices >> 1, left - 1);
  } else {
    A(choices >> 1, left - 1);
    __asm__ volatile("");
  }
  __asm__ volatile("");
}

TEST_F(VerifiedStacksTest, KnowEveryStackOfMany) {
  for (int round = 0; round < 3; ++round) {
    for (unsigned choices = 0; choices < 64; ++choices) Shape(choices, 6);
  }
  EXPECT_EQ(probe_.captures(), 192u);
  EXPECT_EQ(probe_.verified(), 128u);
}

TEST_F(VerifiedStacksTest, KnowFramesOfAllShapes) {
  Repeat(2, [] {
    nofp::Recurse(5, ProbeTheCaller);
    nofp::ManyRegisters(3, 1, 2, 3, ProbeHere);
    nofp::BigFrame(3, ProbeHere);
    nofp::UntouchedFrame(ProbeTheCaller);
    nofp::VariableFrame(3, 100, ProbeTheCaller);
    fp::Recurse(5, ProbeTheCaller);
    fp::ManyRegisters(3, 1, 2, 3, ProbeTheCaller);
    fp::BigFrame(3, ProbeHere);
    fp::VariableFrame(3, 100, ProbeTheCaller);
  });
  EXPECT_EQ(probe_.captures(), 18u);
  EXPECT_EQ(probe_.verified(), 9u);
}

// The same slots and return addresses up to a frame whose own rbp leads elsewhere.
TEST_F(VerifiedStacksTest, CompareTheSavedRbpsThatAWalkReads) {
  for (int round = 0; round < 2; ++round) {
    for (int padding = 16; padding < 256; padding += 16) {
      fp::Padded(padding, fp::VariableOnce, 512 - padding, ProbeTheCaller);
      fp::Padded(padding, fp::VariableOnce, 512 - padding, ProbeBelowRecursion);
      fp::Padded(padding, fp::VariableOnce, 512 - padding,
                 [] { nofp::ManyRegisters(0, 1, 2, 3, ProbeHere); });
    }
  }
  EXPECT_EQ(probe_.captures(), 90u);
  EXPECT_EQ(probe_.verified(), 45u);
}

// More than there is room for: some are forgotten, none is taken for another.
TEST_F(VerifiedStacksTest, AreRightWhenThereAreTooMany) {
  for (int round = 0; round < 3; ++round) {
    for (unsigned choices = 0; choices < 1024; ++choices) Shape(choices, 10);
    for (int depth = 1; depth < 200; depth += 7) nofp::Recurse(depth, ProbeHere);
  }
  Repeat(5000, ProbeHere);
  EXPECT_GT(probe_.verified(), 500u);
}

TEST_F(VerifiedStacksTest, AreForgottenWhenModulesChange) {
  Repeat(4, [] {
    InvalidateUnwinder();
    ProbeHere();
  });
  EXPECT_EQ(probe_.captures(), 4u);
  EXPECT_EQ(probe_.verified(), 0u);
}

// Special frames read more than is recorded.
TEST_F(VerifiedStacksTest, LeaveRealignedFramesAlone) {
  for (int i = 0; i < 4; ++i) nofp::RealignedVariable(1, 64, ProbeHere);
  EXPECT_EQ(probe_.verified(), 0u);
}

}  // namespace
}  // namespace memprof::test
