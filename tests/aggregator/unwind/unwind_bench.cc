// The time of a single capture: nothing changed, the innermost 4 frames changed, everything changed
// (nothing remembered), and libunwind's unw_backtrace for comparison.
//
//   unwind_bench [depth]

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "aggregator/unwind/stack_capture.h"
#include "tests/aggregator/unwind/call_shapes.h"

namespace {

using memprof::CaptureStack;
using memprof::StackMemory;

constexpr int kRounds = 200'000;
constexpr int kRepeats = 5;

StackMemory g_memory;
uint64_t g_frames;
uint64_t g_unchanged;

// As a hook does it.
[[gnu::noinline]] void Hook() {
  auto* const frame = static_cast<uintptr_t*>(__builtin_frame_address(0));
  const auto result = CaptureStack({reinterpret_cast<uintptr_t>(__builtin_return_address(0)),
                                    reinterpret_cast<uintptr_t>(frame + 2), *frame},
                                   g_memory);
  g_frames += result.depth;
  g_unchanged += result.unchanged;
}

[[gnu::noinline]] void HookWithoutCapture() {
  __asm__ volatile("" : : "r"(__builtin_frame_address(0)) : "memory");
}

[[gnu::noinline]] void HookWithNothingRemembered() {
  g_memory.depth = 0;
  Hook();
  __asm__ volatile("");
}

[[gnu::noinline]] void HookWithLibunwind() {
  void* pcs[512];
  g_frames += static_cast<uint64_t>(unw_backtrace(pcs, 512));
}

double NanosecondsOf(void (*body)()) {
  double best = 1e30;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    g_frames = 0;
    g_unchanged = 0;
    const auto begin = std::chrono::steady_clock::now();
    body();
    const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - begin;
    best = std::min(best, taken.count() / kRounds);
  }
  return best;
}

template <void (*kHook)()>
void Same() {
  for (int i = 0; i < kRounds; ++i) kHook();
}

// Two call sites, so that the innermost four return addresses alternate.
template <void (*kHook)()>
void LastFourChange() {
  for (int i = 0; i < kRounds; i += 2) {
    memprof::test::without_frame_pointer::Recurse(2, kHook);
    memprof::test::with_frame_pointer::Recurse(2, kHook);
  }
}

void Print(const char* name, double nanoseconds, double without) {
  const double frames = static_cast<double>(g_frames) / kRounds;
  std::printf("%-38s %7.1f ns   %5.1f frames, %5.1f unchanged", name, nanoseconds - without, frames,
              static_cast<double>(g_unchanged) / kRounds);
  if (g_unchanged == 0) std::printf("   %5.2f ns a frame", (nanoseconds - without) / frames);
  std::printf("\n");
}

void Measure() {
  const double same = NanosecondsOf(Same<HookWithoutCapture>);
  const double changing = NanosecondsOf(LastFourChange<HookWithoutCapture>);
  Print("same stack", NanosecondsOf(Same<Hook>), same);
  Print("innermost 4 frames change", NanosecondsOf(LastFourChange<Hook>), changing);
  Print("nothing remembered", NanosecondsOf(Same<HookWithNothingRemembered>), same);
  Print("nothing remembered, 4 change", NanosecondsOf(LastFourChange<HookWithNothingRemembered>),
        changing);
  Print("unw_backtrace", NanosecondsOf(Same<HookWithLibunwind>), same);
}

}  // namespace

int main(int argc, char** argv) {
  const int depth = argc > 1 ? std::atoi(argv[1]) : 23;
  if (!memprof::InitUnwinder()) return 1;
  std::printf("%d rounds, the best of %d; the call itself is taken off\n", kRounds, kRepeats);
  // Seven frames are there in any case: main, Measure, and those that start and measure.
  memprof::test::without_frame_pointer::Recurse(std::max(0, depth - 9), Measure);
  return 0;
}
