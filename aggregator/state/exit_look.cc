#include "aggregator/state/exit_look.h"

#include <cerrno>

#include "aggregator/basics/errno_guard.h"
#include "aggregator/basics/kernel_calls.h"
#include "aggregator/basics/libc_functions.h"
#include "aggregator/basics/monotonic_clock.h"
#include "aggregator/basics/signals_blocked.h"
#include "aggregator/basics/system_calls.h"
#include "aggregator/state/counting.h"
#include "aggregator/state/process_tables.h"
#include "aggregator/state/thread_state.h"

namespace memprof {
namespace {

constinit std::atomic<bool> prepared{false};  // in a forked child as well
constinit std::atomic<int64_t> began{0};      // when the first one came; 0: none did
constinit std::atomic<const void*> first_thread{nullptr};
constinit uint32_t supervisor = 0;                    // its pid, as seen from here
constinit const void* main_thread = nullptr;          // its thread pointer
constinit std::atomic<bool> main_thread_ends{false};  // but not the process
constinit std::atomic<bool> frees_next{false};

uint32_t Parent() { return static_cast<uint32_t>(kernel::Call(SYS_getppid)); }

// A full nap counts more than one that a signal cuts short.
constexpr int64_t kSecondNs = 1'000'000'000;
constexpr long kNapNs = 5'000'000;
constexpr uint32_t kFullNap = 50;
constexpr uint32_t kMostNaps = 2000 * kFullNap;

void AwaitDone(const std::atomic<uint32_t>& word) {
  uint32_t seen = kExitLookAsked;
  for (uint32_t naps = 0; naps < kMostNaps;) {
    const timespec nap = {0, kNapNs};
    naps += kernel::Call(SYS_nanosleep, &nap, nullptr) == 0 ? kFullNap : 1;
    const uint32_t now = word.load(std::memory_order_acquire);
    if (now == kExitLookDone || Parent() != supervisor) return;
    if (now != seen) naps = 0;
    seen = now;
  }
}

// The thread that came first gets to the end first: this one waits for as long as it came later.
void FollowTheFirst(const std::atomic<uint32_t>& word, int64_t first, int64_t now) {
  AwaitDone(word);
  const int64_t later = now - first;
  const timespec rest = {later / kSecondNs, later % kSecondNs};
  kernel::Call(SYS_nanosleep, &rest, nullptr);
}

// libc frees its record of this right after it.
void OnThreadExit(void*) {
  if (!main_thread_ends.load(std::memory_order_relaxed)) LookBeforeExit();
  frees_next.store(true, std::memory_order_relaxed);
}

void OnProcessExit(int, void*) { LookBeforeExit(); }

}  // namespace

void PrepareExitLook() {
  if (CurrentRegion().options.look_at_exit == 0) return;
  supervisor = Parent();
  main_thread = __builtin_thread_pointer();
  prepared.store(true, std::memory_order_relaxed);
  if (const auto on_exit_of_libc = TheLibc().on_exit.Load(); on_exit_of_libc != nullptr) {
    on_exit_of_libc(OnProcessExit, nullptr);
  }
  const AllocatorScope not_the_programs;
  AtThreadExit(OnThreadExit);
}

namespace {

// What lies below was the stack of functions that have returned, with their pointers. The frames of those
// that wait now must have none of them: they would hold blocks that nothing else does.
[[gnu::noinline]] void WipeStackBelow() {
  constexpr size_t kDeepest = 2048;
  volatile uint64_t below[kDeepest / sizeof(uint64_t)];
  for (volatile uint64_t& word : below) word = 0;
}

[[gnu::noinline]] void LookNow() {
  if (!CountsAnything() || SystemCallsFiltered()) return;
  // A forked child that counts has a region of its own; a child of vfork() shares ours.
  RegionHeader& header = CurrentRegion();
  if (header.options.look_at_exit == 0 || kernel::Pid() != header.pid) return;
  const ErrnoGuard keep;
  if (header.exit_look.load(std::memory_order_relaxed) == kExitLookDone) return;
  // A handler must not end the process meanwhile, which would have ended before.
  const SignalsBlocked whole;
  const auto now = static_cast<int64_t>(MonotonicNs());
  int64_t first = 0;
  if (!began.compare_exchange_strong(first, now, std::memory_order_relaxed)) {
    if (first_thread != __builtin_thread_pointer()) FollowTheFirst(header.exit_look, first, now);
    return;
  }
  first_thread = __builtin_thread_pointer();
  header.exit_look.store(kExitLookAsked, std::memory_order_release);
  AwaitDone(header.exit_look);
}

}  // namespace

void LookBeforeExit() {
  if (!prepared.load(std::memory_order_relaxed)) return;
  WipeStackBelow();
  LookNow();
}

void ThreadEnds() {
  if (__builtin_thread_pointer() == main_thread) {
    main_thread_ends.store(true, std::memory_order_relaxed);
  }
}

bool IsExitLooksFree() {
  return __builtin_expect(frees_next.load(std::memory_order_relaxed), 0) &&
         __builtin_thread_pointer() == main_thread &&
         frees_next.exchange(false, std::memory_order_relaxed);
}

}  // namespace memprof
