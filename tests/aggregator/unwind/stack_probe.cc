#include "tests/aggregator/unwind/stack_probe.h"

#define UNW_LOCAL_ONLY
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <libunwind.h>

#include <algorithm>
#include <cstring>

#include "tests/aggregator/unwind/call_shapes.h"
#include "tests/aggregator/unwind/hash_of_stack.h"

namespace memprof::test {

thread_local StackProbe* g_probe = nullptr;

namespace {

// The stack as libunwind sees it, root first, from the frame at `start` on.
// `failed`: libunwind gave up before the outermost frame.
[[gnu::noinline]] std::vector<uintptr_t> OracleWalk(const StartRegisters& start, bool& failed) {
  std::vector<uintptr_t> pcs;
  int step = 0;
  unw_context_t context;
  unw_cursor_t cursor;
  unw_getcontext(&context);
  unw_init_local(&cursor, &context);
  bool arrived = false;
  do {
    unw_word_t ip = 0;
    unw_word_t sp = 0;
    unw_get_reg(&cursor, UNW_REG_IP, &ip);
    unw_get_reg(&cursor, UNW_REG_SP, &sp);
    if (ip == 0) break;
    arrived = arrived || (sp == start.sp && ip == start.pc);
    // libunwind reports it for the interrupted frame, not for the trampoline.
    if (arrived) pcs.push_back(ip + (unw_is_signal_frame(&cursor) > 0 ? 1 : 0));
    step = unw_step(&cursor);
  } while (pcs.size() < 200'000 && step > 0);
  failed = step < 0;
  if (pcs.size() > kMaxFrames) pcs.resize(kMaxFrames);
  std::reverse(pcs.begin(), pcs.end());
  return pcs;
}

// Whether the walk went where no code is.
bool LeftAllModules(const std::vector<uintptr_t>& pcs) {
  return std::any_of(pcs.begin(), pcs.end(), [](uintptr_t pc) {
    Dl_info info;
    return dladdr(reinterpret_cast<void*>(pc - 1), &info) == 0;
  });
}

}  // namespace

StackProbe::StackProbe()
    : reused_memory_(new StackMemory()),
      plain_memory_(new StackMemory()),
      verified_stacks_(new VerifiedStacks()) {
  static const bool ready = InitUnwinder();
  EXPECT_TRUE(ready);
  // With its cache, the oracle would believe in modules that are gone.
  unw_set_caching_policy(unw_local_addr_space, UNW_CACHE_NONE);
}

StackProbe::~StackProbe() {
  delete reused_memory_;
  delete plain_memory_;
  delete verified_stacks_;
}

[[gnu::noinline]] void StackProbe::Check(bool oracle) {
  auto* const frame = static_cast<uintptr_t*>(__builtin_frame_address(0));
  const StartRegisters start{reinterpret_cast<uintptr_t>(__builtin_return_address(0)),
                             reinterpret_cast<uintptr_t>(frame + 2), *frame};
  CheckFrom(start, oracle);
  __asm__ volatile("");  // no tail call
}

[[gnu::noinline]] void StackProbe::CheckFrom(const StartRegisters& start, bool oracle) {
  const uint32_t verified = verified_stacks_->Find(start);
  const CaptureResult reused = CaptureStack(start, *reused_memory_);
  std::memset(plain_memory_, 0, sizeof(*plain_memory_));
  const CaptureResult plain = CaptureStack(start, *plain_memory_);

  last_.pcs.clear();
  last_.slots.clear();
  last_.result = plain;
  std::vector<uintptr_t> reused_pcs;
  std::vector<uintptr_t> reused_slots;
  for (uint32_t i = 0; i < plain.depth; ++i) {
    last_.pcs.push_back(plain_memory_->frames[i].pc);
    last_.slots.push_back(plain_memory_->frames[i].slot);
  }
  for (uint32_t i = 0; i < reused.depth; ++i) {
    reused_pcs.push_back(reused_memory_->frames[i].pc);
    reused_slots.push_back(reused_memory_->frames[i].slot);
  }
  EXPECT_EQ(plain.unchanged, 0u);
  ASSERT_EQ(reused_pcs, last_.pcs);
  ASSERT_EQ(reused_slots, last_.slots);
  EXPECT_EQ(reused.truncated, plain.truncated);
  EXPECT_EQ(reused.incomplete, plain.incomplete);
  CheckUnchanged(reused);
  const uint32_t hash = HashOfStack(*plain_memory_, plain.depth);
  if (verified != VerifiedStacks::kNone) {
    ++verified_;
    EXPECT_EQ(verified, hash);
    EXPECT_FALSE(plain.truncated || plain.incomplete);
  } else if (reused_memory_->depth == reused.depth && !reused.incomplete) {
    verified_stacks_->Remember(start, *reused_memory_, hash);
    if (verified_stacks_->wants_to_grow()) {
      verified_stacks_->Grow([this](void*, size_t) { return may_grow; });
    }
  }
  remembered_pcs_ = reused_pcs;
  remembered_slots_ = reused_slots;
  ++captures_;
  frames_ += reused.depth;
  unchanged_ += reused.unchanged;

  if (oracle) {
    bool failed = false;
    const std::vector<uintptr_t> expected = OracleWalk(start, failed);
    if (failed || LeftAllModules(expected)) {
      ++oracle_lost_;
      return;
    }
    ASSERT_EQ(last_.pcs, expected);
    EXPECT_FALSE(plain.incomplete);
  }
}

// Invariant 2 of stack_capture.h: the caller's values in the unchanged frames are still there, and
// the frames are the same.
void StackProbe::CheckUnchanged(const CaptureResult& reused) {
  ASSERT_LE(reused.unchanged, reused.depth);
  ASSERT_LE(reused.unchanged, remembered_pcs_.size());
  for (uint32_t i = 0; i < reused.depth; ++i) {
    RememberedFrame& frame = reused_memory_->frames[i];
    if (i < reused.unchanged) {
      ASSERT_EQ(frame.pc, remembered_pcs_[i]);
      ASSERT_EQ(frame.slot, remembered_slots_[i]);
      ASSERT_NE(frame.node, 0u);
    } else {
      frame.node = next_mark_++;
    }
  }
}

[[gnu::noinline]] void ProbeHere() {
  g_probe->Check();
  __asm__ volatile("");  // no tail call
}

[[gnu::noinline]] void ProbeTheCaller() {
  auto* const frame = static_cast<uintptr_t*>(__builtin_frame_address(0));
  g_probe->CheckFrom({reinterpret_cast<uintptr_t>(__builtin_return_address(0)),
                      reinterpret_cast<uintptr_t>(frame + 2), *frame});
  __asm__ volatile("");
}

[[gnu::noinline]] void ProbeBelowRecursion() {
  without_frame_pointer::Recurse(3, ProbeHere);
  __asm__ volatile("");
}

[[gnu::noinline]] void Repeat(int times, void (*function)()) {
  for (int i = 0; i < times; ++i) {
    __asm__ volatile("");
    function();
  }
  __asm__ volatile("");
}

}  // namespace memprof::test
