// Sampler: decides which blocks are sampled (core/protocol/sample_weight.h has the reasons).
//
// Each thread counts down the bytes to its next sample. The distance is drawn anew after each, with
// P(distance > n) = e^(−n/B). This distribution has no memory: earlier blocks don't influence the
// next one. So a block of s bytes is sampled with exactly 1 − e^(−(s+1)/B), also a huge one.
//
//   bytes     ├─ 40 ─┼─ 24 ─┼──── 100 ────┼─ 8 ─┼ …     each block and one byte more
//   countdown  900      859            … ≤ 0: sampled; 70411, drawn
//
// Thread safety: any thread, also a signal handler in the middle of any function here: the
// countdown is one instruction. A handler between that and the new draw finds a countdown below
// zero, and draws one of its own. The next allocation does the same if the handler left by
// siglongjmp. All draws are from one sequence of the process, so no two threads have the same.
#pragma once

#include <cstddef>
#include <cstdint>

#include "aggregator/state/thread_state.h"
#include "aggregator/tables/sample_filter.h"
#include "core/protocol/region_layout.h"
#include "core/protocol/sample_weight.h"

namespace memprof {

// Call it once, before the first sample. True: ready, or no sampling is asked for. False: no
// memory.
bool StartSampler(const TrackerOptions& options);
// In a forked child: its draws differ from its parent's and its siblings'.
void ReseedSampler(uint64_t by);

// The addresses of the live sampled blocks. Set while sampling.
extern SampleFilter* samples_filter;

// True if this process samples, also while the program has stopped counting: the form in which
// blocks are kept never changes. (CountsSamples may give two answers if it is called twice.)
inline bool Sampling() { return samples_filter != nullptr; }

// The countdown was used up by an allocation of `step` − 1 bytes, or was never drawn.
[[gnu::noinline]] bool DecideSample(int64_t step);

// True if the allocation is certainly no sample; it is then counted down. Otherwise call
// TakesSample. A handler between the two steps may leave less than the step: the next sample is
// then due.
[[gnu::always_inline]] inline bool PassesUnsampled(size_t size) {
  if (__builtin_expect(thread_state.countdown <= 0, 0) ||
      __builtin_expect(size >= static_cast<uint64_t>(thread_state.countdown) - 1, 0)) {
    return false;
  }
  __asm__ volatile("subq %1, %0" : "+m"(thread_state.countdown) : "er"(size + 1));
  return true;
}

// True if an allocation is a sample. Call it once for each, while sampling.
[[gnu::always_inline]] inline bool TakesSample(size_t size) {
  // A size that no allocator can give must not wrap the countdown round.
  const int64_t step = static_cast<int64_t>(size & ((uint64_t{1} << 62) - 1)) + 1;
  bool due;
  __asm__ volatile("subq %2, %1" : "=@ccle"(due), "+m"(thread_state.countdown) : "er"(step));
  return __builtin_expect(due, 0) && DecideSample(step);
}

// False: the block is no sample. Call it while sampling.
[[gnu::always_inline]] inline bool MaybeSample(const void* address) {
  return __builtin_expect(samples_filter->MayHave(reinterpret_cast<uintptr_t>(address)), 0);
}

// The size of a sampled block in the live map's form, with its rounding in the two bits above the
// size. From 32 TiB on it is more than the map can keep: such a block is dropped.
uint64_t KeptSize(uint64_t size);
// The block's weight, the same at its free.
SampleWeight WeightOfKept(uint64_t kept_size);

}  // namespace memprof
