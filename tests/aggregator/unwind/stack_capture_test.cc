// Every shape of frame that a compiler or a libc makes, compared with libunwind; and reused frames
// compared with walks from scratch (StackProbe does both at every leaf).

#include "aggregator/unwind/stack_capture.h"

#include <gtest/gtest.h>

#include <memory>

#include "tests/aggregator/unwind/call_shapes.h"
#include "tests/aggregator/unwind/stack_probe.h"

namespace memprof::test {
namespace {

class StackCapture : public ::testing::Test {
 protected:
  StackCapture() { g_probe = &probe_; }
  ~StackCapture() override {
    g_probe = nullptr;
    EXPECT_EQ(probe_.oracle_lost(), 0u);
  }

  StackProbe probe_;
};

TEST_F(StackCapture, AgreesWithLibunwindOnRecursion) {
  for (int depth : {0, 1, 5, 100}) {
    without_frame_pointer::Recurse(depth, ProbeHere);
    const size_t without = probe_.last().pcs.size();
    with_frame_pointer::Recurse(depth, ProbeHere);
    EXPECT_EQ(probe_.last().pcs.size(), without);
    EXPECT_GT(without, static_cast<size_t>(depth));
    EXPECT_FALSE(probe_.last().result.truncated);
  }
}

TEST_F(StackCapture, AgreesWithLibunwindWhereRbpHoldsValues) {
  without_frame_pointer::ManyRegisters(20, 1, 2, 3, ProbeHere);
  with_frame_pointer::ManyRegisters(20, 1, 2, 3, ProbeHere);
  EXPECT_EQ(probe_.captures(), 2u);
}

TEST_F(StackCapture, AgreesWithLibunwindOnBigAndVariableFrames) {
  without_frame_pointer::BigFrame(10, ProbeHere);
  with_frame_pointer::BigFrame(10, ProbeHere);
  without_frame_pointer::HugeFrame(ProbeHere);
  with_frame_pointer::HugeFrame(ProbeHere);
  without_frame_pointer::VariableFrame(12, 16, ProbeHere);
  with_frame_pointer::VariableFrame(12, 16, ProbeHere);
  EXPECT_EQ(probe_.captures(), 6u);
}

TEST_F(StackCapture, AgreesWithLibunwindOnRealignedFrames) {
  without_frame_pointer::Realigned(6, ProbeHere);
  with_frame_pointer::Realigned(6, ProbeHere);
  without_frame_pointer::RealignedVariable(6, 8, ProbeHere);
  with_frame_pointer::RealignedVariable(6, 8, ProbeHere);
  EXPECT_EQ(probe_.captures(), 4u);
}

TEST_F(StackCapture, AgreesWithLibunwindInACallbackOfQsort) {
  without_frame_pointer::SortedThrough(ProbeHere);
  with_frame_pointer::SortedThrough(ProbeHere);
  EXPECT_GT(probe_.captures(), 50u);
}

TEST_F(StackCapture, AgreesWithLibunwindWhileAnExceptionUnwinds) {
  EXPECT_THROW(without_frame_pointer::ThrowThrough(10, ProbeHere), int);
  EXPECT_THROW(with_frame_pointer::ThrowThrough(10, ProbeHere), int);
  EXPECT_EQ(probe_.captures(), 22u);
}

TEST_F(StackCapture, AgreesWithLibunwindBeforeAndAfterLongjmp) {
  without_frame_pointer::JumpThrough(10, ProbeHere);
  with_frame_pointer::JumpThrough(10, ProbeHere);
  EXPECT_EQ(probe_.captures(), 4u);
}

TEST_F(StackCapture, KeepsTheInnermostFramesOfADeepRecursion) {
  without_frame_pointer::Recurse(100'000, ProbeHere);
  EXPECT_TRUE(probe_.last().result.truncated);
  EXPECT_FALSE(probe_.last().result.incomplete);
  EXPECT_EQ(probe_.last().pcs.size(), kMaxFrames);
}

TEST_F(StackCapture, IsTruncatedOnlyAboveTheLimit) {
  without_frame_pointer::Recurse(0, ProbeHere);
  const int around = static_cast<int>(probe_.last().pcs.size());
  const int limit = static_cast<int>(kMaxFrames);
  without_frame_pointer::Recurse(limit - around, ProbeHere);
  EXPECT_EQ(probe_.last().pcs.size(), kMaxFrames);
  EXPECT_FALSE(probe_.last().result.truncated);
  without_frame_pointer::Recurse(limit - around + 1, ProbeHere);
  EXPECT_EQ(probe_.last().pcs.size(), kMaxFrames);
  EXPECT_TRUE(probe_.last().result.truncated);
  without_frame_pointer::Recurse(limit - around - 1, ProbeHere);
  EXPECT_FALSE(probe_.last().result.truncated);
}

TEST_F(StackCapture, ReusesEverythingWhenNothingChanged) {
  without_frame_pointer::Recurse(20, [] { Repeat(10, ProbeHere); });
  EXPECT_EQ(probe_.captures(), 10u);
  EXPECT_EQ(probe_.unchanged(), 9 * probe_.last().pcs.size());
}

TEST_F(StackCapture, ReusesTheFramesAboveTheOnesThatChanged) {
  without_frame_pointer::Recurse(50, [] {
    for (int depth = 0; depth < 8; ++depth) with_frame_pointer::Recurse(depth, ProbeHere);
  });
  EXPECT_GE(probe_.unchanged(), 7u * 50u);
}

TEST_F(StackCapture, ReusesNothingAfterAnInvalidation) {
  without_frame_pointer::Recurse(10, [] {
    for (int i = 0; i < 4; ++i) {
      InvalidateUnwinder();
      ProbeHere();
    }
  });
  EXPECT_EQ(probe_.captures(), 4u);
  EXPECT_EQ(probe_.unchanged(), 0u);
}

TEST_F(StackCapture, GivesReusedFramesAsAPlainWalkDoesOnRandomCallTrees) {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    without_frame_pointer::RandomTree(seed, 14, 400, ProbeHere);
    with_frame_pointer::RandomTree(seed, 14, 400, ProbeHere);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(probe_.captures(), 2'000u);
  EXPECT_GT(probe_.unchanged() * 2, probe_.frames());
}

// The trees of both kinds inside each other, at a depth where frames fall out of the array.
TEST_F(StackCapture, GivesReusedFramesAsAPlainWalkDoesAroundTheLimit) {
  without_frame_pointer::Recurse(static_cast<int>(kMaxFrames) - 40, [] {
    for (unsigned seed = 1; seed <= 10; ++seed) {
      without_frame_pointer::RandomTree(seed, 20, 200, ProbeHere);
      with_frame_pointer::RandomTree(seed, 20, 200, ProbeHere);
    }
  });
  EXPECT_GT(probe_.captures(), 300u);
}

TEST_F(StackCapture, KeepsErrno) {
  errno = 4711;
  ProbeHere();
  StackMemory* memory = new StackMemory();
  errno = 4711;
  auto* const frame = static_cast<uintptr_t*>(__builtin_frame_address(0));
  CaptureStack({reinterpret_cast<uintptr_t>(__builtin_return_address(0)),
                reinterpret_cast<uintptr_t>(frame + 2), *frame},
               *memory);
  EXPECT_EQ(errno, 4711);
  delete memory;
}

}  // namespace
}  // namespace memprof::test
