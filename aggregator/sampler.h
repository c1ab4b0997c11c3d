// Sampler: which blocks are sampled (core/protocol/sample_weight.h says why so).
//
// Each thread counts down the bytes to its next sample. The distance is drawn anew after each, with
// P(distance > n) = e^(−n/B): it has no memory, so what came before is nothing to the next block,
// and one of s bytes is sampled with 1 − e^(−(s+1)/B) exactly, also a huge one.
//
//   bytes     ├─ 40 ─┼─ 24 ─┼──── 100 ────┼─ 8 ─┼ …     each block and one byte more
//   countdown  900      859            … ≤ 0: sampled; 70411, drawn
//
// Thread safety: any thread, also a signal handler in the middle of any function here: the count
// down is one instruction. A handler between that and the new draw finds a countdown below zero,
// and begins one of its own; so does the next allocation if the handler left by siglongjmp.
// All draws are from one sequence of the process, so no two threads have the same.
#pragma once

#include <cstddef>
#include <cstdint>

#include "aggregator/tables/sample_filter.h"
#include "aggregator/tracker.h"
#include "core/protocol/region_layout.h"
#include "core/protocol/sample_weight.h"

namespace memprof {

// Once, before the first sample. True: ready, or no sampling is asked for. False: no memory.
bool StartSampler(const TrackerOptions& options);
// In a forked child: it draws otherwise than its parent and its siblings.
void ReseedSampler(uint64_t by);

// The addresses of the sampled blocks that live. Set while sampling.
extern SampleFilter* samples_filter;

// Whether this process samples, also while the program has stopped counting: what is known of a
// block never changes its form. (CountsSamples may be asked twice and give two answers.)
inline bool Sampling() { return samples_filter != nullptr; }

// The countdown was used up by an allocation of `step` − 1 bytes, or never drawn.
[[gnu::noinline]] bool DecideSample(int64_t step);

// Whether the allocation is surely no sample; then it is counted down. If not, TakesSample is to be
// asked. A handler between the two steps may leave less than the step: the next one then is due.
[[gnu::always_inline]] inline bool PassesUnsampled(size_t size) {
  if (__builtin_expect(thread_state.countdown <= 0, 0) ||
      __builtin_expect(size >= static_cast<uint64_t>(thread_state.countdown) - 1, 0)) {
    return false;
  }
  __asm__ volatile("subq %1, %0" : "+m"(thread_state.countdown) : "er"(size + 1));
  return true;
}

// Whether an allocation is a sample. To be asked once of each. While sampling.
[[gnu::always_inline]] inline bool TakesSample(size_t size) {
  // What no allocator can give must not turn the countdown round.
  const int64_t step = static_cast<int64_t>(size & ((uint64_t{1} << 62) - 1)) + 1;
  bool due;
  __asm__ volatile("subq %2, %1" : "=@ccle"(due), "+m"(thread_state.countdown) : "er"(step));
  return __builtin_expect(due, 0) && DecideSample(step);
}

// False: the block is no sample. While sampling.
[[gnu::always_inline]] inline bool MaybeSample(const void* address) {
  return __builtin_expect(samples_filter->MayHave(reinterpret_cast<uintptr_t>(address)), 0);
}

// The size of a sampled block as the live map keeps it, with how its weight is rounded in the two
// bits above the size. More than the map can keep for a size from 32 TiB: such a block is dropped.
uint64_t KeptSize(uint64_t size);
// Its weight, the same at its free.
SampleWeight WeightOfKept(uint64_t kept_size);

}  // namespace memprof
