// VerifiedStacks compared with walks from scratch (StackProbe): its results are right, and it knows
// the earlier stacks.

#include "aggregator/unwind/verified_stacks.h"

#include <gtest/gtest.h>
#include <setjmp.h>
#include <signal.h>

#include <memory>

#include "tests/aggregator/unwind/asm_frames.h"
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

// 2^6 stacks with the same leaf and slots, distinguished by the words between.
[[gnu::noinline]] void Shape(unsigned choices, int left);
[[gnu::noinline]] void A(unsigned choices, int left) {
  Shape(choices, left);
  __asm__ volatile("");
}
[[gnu::noinline]] void B(unsigned choices, int left) {
  Shape(choices, left);
  __asm__ volatile("# another function than A");
}
[[gnu::noinline]] void Shape(unsigned choices, int left) {
  if (left == 0) {
    P();
  } else if ((choices & 1) != 0) {
    A(choices >> 1, left - 1);
  } else {
    B(choices >> 1, left - 1);
  }
  __asm__ volatile("");
}

TEST_F(VerifiedStacksTest, KnowEveryStackOfMany) {
  Repeat(3, [] {
    for (unsigned choices = 0; choices < 64; ++choices) Shape(choices, 6);
  });
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
  Repeat(2, [] {
    for (int padding = 16; padding < 256; padding += 16) {
      fp::Padded(padding, fp::VariableOnce, 512 - padding, ProbeTheCaller);
      fp::Padded(padding, fp::VariableOnce, 512 - padding, ProbeBelowRecursion);
      fp::Padded(padding, fp::VariableOnce, 512 - padding,
                 [] { nofp::ManyRegisters(0, 1, 2, 3, ProbeHere); });
    }
  });
  EXPECT_EQ(probe_.captures(), 90u);
  EXPECT_EQ(probe_.verified(), 45u);
}

// They grow at most twice, and forget all stacks then: the last three rounds find all.
TEST_F(VerifiedStacksTest, GrowUntilTheyKnowHundreds) {
  Repeat(6, [] {
    for (unsigned choices = 0; choices < 512; ++choices) Shape(choices, 9);
  });
  EXPECT_GE(probe_.verified(), 3u * 512);
}

// More stacks than there is room for: some are forgotten, none is taken for another.
TEST_F(VerifiedStacksTest, AreRightWhenThereAreTooMany) {
  for (int round = 0; round < 3; ++round) {
    for (unsigned choices = 0; choices < 4096; ++choices) Shape(choices, 12);
    for (int depth = 1; depth < 200; depth += 7) nofp::Recurse(depth, ProbeHere);
  }
  Repeat(5000, ProbeHere);
  EXPECT_GT(probe_.verified(), 500u);
}

TEST_F(VerifiedStacksTest, AreRightWhereTheyCanNotGrow) {
  probe_.may_grow = false;
  for (int round = 0; round < 3; ++round) {
    for (unsigned choices = 0; choices < 1024; ++choices) Shape(choices, 10);
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

// Special frames read more than is recorded. It depends on the compiler which frames are special.
TEST_F(VerifiedStacksTest, LeaveSpecialFramesAlone) {
  Repeat(4, [] { MemprofCallByRbx(ProbeHere); });
  EXPECT_EQ(probe_.verified(), 0u);
}

// A signal handler may leave Remember at any of its instructions: the trap flag tries them all.

constexpr uint32_t kTheOne = 1;
constexpr uint32_t kTheOther = 2;

std::unique_ptr<VerifiedStacks> g_left;
std::unique_ptr<StackMemory> g_left_memory;
sigjmp_buf g_back;
volatile long g_steps_left = 0;
volatile bool g_was_left = false;

void LeaveAtLastStep(int /*signal*/) {
  g_steps_left = g_steps_left - 1;
  if (g_steps_left != 0) return;
  g_was_left = true;
  siglongjmp(g_back, 1);
}

[[gnu::always_inline]] inline void SetTrapFlag(uint64_t set, uint64_t kept) {
  __asm__ volatile(
      "lea -128(%%rsp), %%rsp; pushfq; and %1, (%%rsp); or %0, (%%rsp); popfq; "
      "lea 128(%%rsp), %%rsp" ::"r"(set),
      "r"(kept)
      : "memory", "cc");
}

// The result of the caller's stack. `leave_at` is the last step of Remember that is made; 0: all
// are.
[[gnu::noinline]] uint32_t FindOrRemember(uint32_t result, long leave_at) {
  auto* const frame = static_cast<uintptr_t*>(__builtin_frame_address(0));
  const StartRegisters start{reinterpret_cast<uintptr_t>(__builtin_return_address(0)),
                             reinterpret_cast<uintptr_t>(frame + 2), *frame};
  const uint32_t found = g_left->Find(start);
  if (found != VerifiedStacks::kNone) return found;
  CaptureStack(start, *g_left_memory);
  g_steps_left = leave_at;
  if (leave_at != 0) SetTrapFlag(0x100, ~uint64_t{0});
  g_left->Remember(start, *g_left_memory, result);
  if (leave_at != 0) SetTrapFlag(0, ~uint64_t{0x100});
  return VerifiedStacks::kNone;
}

// Two stacks that differ in the innermost pc alone.
[[gnu::noinline]] uint32_t OneOf(uint32_t which, long leave_at) {
  uint32_t found = 0;
  if (which == kTheOne) {
    found = FindOrRemember(which, leave_at);
  } else {
    found = FindOrRemember(which, leave_at);
    __asm__ volatile("nop");
  }
  __asm__ volatile("");
  return found;
}

[[gnu::noinline]] uint32_t ResultOfOne(uint32_t which, long leave_at) {
  if (sigsetjmp(g_back, 1) != 0) return VerifiedStacks::kNone;
  return OneOf(which, leave_at);
}

void LeaveAndGoOn(long leave_at, bool known_before) {
  for (int event = known_before ? 0 : 1; event < 5; ++event) {
    const uint32_t which = event == 1 || event == 4 ? kTheOne : kTheOther;
    const uint32_t found = ResultOfOne(which, event == 1 ? leave_at : 0);
    if (found != VerifiedStacks::kNone) {
      ASSERT_EQ(found, which) << "left at " << leave_at;
    }
  }
}

TEST(LeftVerifiedStacksTest, TakeNoStackForAnother) {
#ifdef __SANITIZE_ADDRESS__
  constexpr long kStride = 13;  // with its instructions there are many more steps
#else
  constexpr long kStride = 1;
#endif
  ASSERT_TRUE(InitUnwinder());
  struct sigaction action = {};
  action.sa_handler = LeaveAtLastStep;
  action.sa_flags = SA_NODEFER;
  struct sigaction before;
  sigaction(SIGTRAP, &action, &before);
  g_left_memory = std::make_unique<StackMemory>();
  for (const bool known_before : {false, true}) {
    long step = 1 - kStride;
    do {
      g_left = std::make_unique<VerifiedStacks>();
      g_was_left = false;
      LeaveAndGoOn(step += kStride, known_before);
    } while (g_was_left && step < 100'000 && !HasFatalFailure());
    EXPECT_GT(step, 50);
  }
  g_left.reset();
  g_left_memory.reset();
  sigaction(SIGTRAP, &before, nullptr);
}

}  // namespace
}  // namespace memprof::test
