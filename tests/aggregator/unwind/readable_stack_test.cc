#include "aggregator/unwind/readable_stack.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>
#include <thread>

#include "aggregator/basics/system_calls.h"

namespace memprof::test {
namespace {

constexpr uintptr_t kPageBytes = 4096;

// Pages of which the fourth can't be read, and the seventh isn't there.
class ReadableStackOnPages : public ::testing::Test {
 protected:
  ReadableStackOnPages() {
    void* memory =
        mmap(nullptr, 8 * kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    pages_ = reinterpret_cast<uintptr_t>(memory);
    EXPECT_EQ(mprotect(Page(3), kPageBytes, PROT_NONE), 0);
    EXPECT_EQ(munmap(Page(6), kPageBytes), 0);
  }
  ~ReadableStackOnPages() override {
    munmap(Page(0), 6 * kPageBytes);
    munmap(Page(7), kPageBytes);
  }

  void* Page(uintptr_t index) const { return reinterpret_cast<void*>(pages_ + index * kPageBytes); }
  uintptr_t At(uintptr_t page, uintptr_t offset) const {
    return pages_ + page * kPageBytes + offset;
  }

  uintptr_t pages_;
};

TEST_F(ReadableStackOnPages, BeginsWithThePageOfItsWord) {
  const ReadableStack stack({}, At(1, 100));
  EXPECT_TRUE(stack.Contains(At(1, 0)));
  EXPECT_TRUE(stack.Contains(At(1, kPageBytes - 8)));
  EXPECT_FALSE(stack.Contains(At(1, kPageBytes - 7)));
  EXPECT_FALSE(stack.Contains(At(0, kPageBytes - 8)));
  EXPECT_FALSE(stack.Contains(At(2, 0)));
}

TEST_F(ReadableStackOnPages, GrowsUpToWhatCanNotBeRead) {
  ReadableStack stack({}, At(0, 0));
  EXPECT_TRUE(stack.Grow(At(1, kPageBytes - 4), 1 << 20));  // a word across two pages
  EXPECT_TRUE(stack.Contains(At(2, 0)));
  EXPECT_TRUE(stack.Grow(At(2, kPageBytes - 8), 1 << 20));
  EXPECT_FALSE(stack.Grow(At(2, kPageBytes - 4), 1 << 20));
  EXPECT_FALSE(stack.Grow(At(3, 0), 1 << 20));
  EXPECT_FALSE(stack.Grow(At(4, 0), 1 << 20));
  EXPECT_FALSE(stack.Contains(At(3, 0)));
}

// A program that filters its system calls: none is made, and known pages stay known.
class ReadableStackBehindAFilter : public ReadableStackOnPages {
 protected:
  void SetUp() override { allowed_system_calls = SystemCalls::kOfAllocators; }
  void TearDown() override {
    allowed_system_calls = SystemCalls::kAny;
    SetMainStack(0, 0);
  }
};

uintptr_t ThreadPointer() {
  uintptr_t pointer;
  __asm__("mov %%fs:0, %0" : "=r"(pointer));
  return pointer;
}

TEST_F(ReadableStackBehindAFilter, KeepsToThePageOfItsWordAndToThePermanentRange) {
  const PermanentStack permanent = {{At(1, 0), At(3, 0)}, ThreadPointer(), 0};
  ReadableStack below(permanent, At(0, 0));
  EXPECT_TRUE(below.Contains(At(0, 8)));
  EXPECT_TRUE(below.Grow(At(2, 0), 1 << 20)) << "the ranges touch";
  ReadableStack elsewhere(permanent, At(4, 0));
  EXPECT_FALSE(elsewhere.Grow(At(5, 0), 1 << 20));
  EXPECT_FALSE(elsewhere.Jump(At(5, 0)));
  EXPECT_TRUE(elsewhere.Jump(At(1, 0)));
  uintptr_t word;
  EXPECT_FALSE(elsewhere.Read(At(5, 0), word));
}

TEST_F(ReadableStackBehindAFilter, FollowsTheMainThreadsStackAlone) {
  const PermanentStack permanent = {{At(2, 0), At(3, 0)}, ThreadPointer(), 0};
  EXPECT_FALSE(ReadableStack(permanent, At(0, 0)).Grow(At(2, 0), 1 << 20));
  SetMainStack(At(2, 800), 2 * kPageBytes);
  EXPECT_FALSE(ReadableStack(permanent, At(0, 0)).Grow(At(2, 0), 1 << 20)) << "too far below";
  SetMainStack(At(2, 800), 4 * kPageBytes);
  ReadableStack main(permanent, At(0, 0));
  EXPECT_TRUE(main.Grow(At(2, 0), 1 << 20));
  EXPECT_EQ(main.permanent().range.begin, At(0, 0));
}

TEST_F(ReadableStackOnPages, GrowsNoFartherThanItIsAllowed) {
  ReadableStack stack({}, At(0, 0));
  EXPECT_FALSE(stack.Grow(At(2, 0), kPageBytes));
  EXPECT_TRUE(stack.Grow(At(2, 0), kPageBytes + 8));
  EXPECT_FALSE(stack.Grow(~uintptr_t{0} - 3, ~uintptr_t{0}));
}

TEST_F(ReadableStackOnPages, JumpsOnlyToWhatCanBeRead) {
  ReadableStack stack({}, At(0, 0));
  EXPECT_FALSE(stack.Jump(At(3, 0)));
  EXPECT_FALSE(stack.Jump(At(6, 0)));
  EXPECT_FALSE(stack.Jump(0));
  EXPECT_FALSE(stack.Jump(~uintptr_t{0} - 7));
  EXPECT_FALSE(stack.Jump(uintptr_t{1} << 63));
  EXPECT_TRUE(stack.Contains(At(0, 0)));
  EXPECT_TRUE(stack.Jump(At(5, 16)));
  EXPECT_TRUE(stack.Contains(At(5, 0)));
  EXPECT_FALSE(stack.Contains(At(0, 0)));
  EXPECT_FALSE(stack.Grow(At(6, 0), 1 << 20));
}

TEST_F(ReadableStackOnPages, ReadsAnyWordAndFaultsOnNone) {
  const ReadableStack stack({}, At(0, 0));
  *reinterpret_cast<uintptr_t*>(At(5, 8)) = 42;
  uintptr_t word = 0;
  EXPECT_TRUE(stack.Read(At(5, 8), word));
  EXPECT_EQ(word, 42u);
  EXPECT_FALSE(stack.Read(At(2, kPageBytes - 1), word));
  EXPECT_FALSE(stack.Read(At(3, 0), word));
  EXPECT_FALSE(stack.Read(At(6, 0), word));
  EXPECT_FALSE(stack.Read(0, word));
  EXPECT_FALSE(stack.Read(~uintptr_t{0}, word));
  EXPECT_FALSE(stack.Read(uintptr_t{1} << 63, word));
}

TEST(ReadableStack, KeepsAThreadsOwnStackAndNoOther) {
  PermanentStack kept = {};
  std::thread([&kept] {
    const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    ReadableStack stack({}, here);
    stack.KeepIfOwnStack();
    kept = stack.permanent();
    EXPECT_TRUE(kept.range.Contains(here));
    const ReadableStack again(kept, here);
    EXPECT_TRUE(again.Contains(kept.range.end - 8));

    void* other =
        mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const ReadableStack elsewhere(kept, reinterpret_cast<uintptr_t>(other));
    EXPECT_FALSE(elsewhere.Contains(here));
    munmap(other, kPageBytes);
  }).join();
  // A range that was kept for another thread pointer is not trusted, even on the same addresses.
  PermanentStack foreign = {};
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  foreign.range = {here & ~(kPageBytes - 1), (here & ~(kPageBytes - 1)) + (1 << 20)};
  foreign.thread_pointer = kept.thread_pointer + 64;
  const ReadableStack stack(foreign, here);
  EXPECT_FALSE(stack.Contains(here + kPageBytes));
}

TEST(ReadableStack, KeepsErrno) {
  errno = 4711;
  ReadableStack stack({}, reinterpret_cast<uintptr_t>(__builtin_frame_address(0)));
  stack.Jump(8192);
  EXPECT_EQ(errno, 4711);
}

}  // namespace
}  // namespace memprof::test
