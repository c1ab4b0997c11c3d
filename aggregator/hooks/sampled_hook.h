// The hooks' work if not every event is counted: only sampled blocks, or none, or only frees of
// blocks that were counted before the program stopped counting.
//
// An allocation that is no sample costs the countdown and the scope; a free of no sample one look
// at the filter. The scope is over every call of the real function nevertheless: the real
// function's own allocations must have no chance of their own to be sampled.
//
// Pre: the hook is not called within another (CalledWithin), and !CountsAll(). Another thread may
// have changed that since. A thread that counts at all then takes the path for a stopped one, which
// loses no free in any mode.
#pragma once

#include <cstddef>
#include <cstdint>

#include "aggregator/events/caller.h"
#include "aggregator/events/claimed_block.h"
#include "aggregator/events/heap_events.h"
#include "aggregator/events/sampled_events.h"
#include "aggregator/events/sampler.h"
#include "aggregator/state/counting.h"
#include "aggregator/state/thread_state.h"

namespace memprof {

template <typename RealCall>
[[gnu::always_inline]] inline auto CallInScope(uintptr_t flags, RealCall real_call) {
  const AllocatorScope scope(flags);
  return real_call();
}

// Counting is stopped, or was. A block that realloc resizes or moves is not counted any more.
template <typename RealCall>
[[gnu::noinline]] void ReleaseStopped(void* address, RealCall real_call) {
  if (!Sampling()) {
    OnFree(address);
  } else if (MaybeSample(address)) {
    OnSampleFree(address);
  }
  CallInScope(kInAllocator | kInFree, real_call);
}
template <typename RealCall>
[[gnu::noinline]] auto ReallocateStopped(void* address, size_t size, bool frees_for_nothing,
                                         RealCall real_call) {
  if (address == nullptr) return real_call();
  const bool samples = Sampling();
  ClaimedBlock old = {};
  if (!samples) {
    old = ClaimForRealloc(address);
  } else if (MaybeSample(address)) {
    old = ClaimSample(address);
  }
  auto* const result = CallInScope(kInAllocator, real_call);
  const bool gone = result != nullptr || (frees_for_nothing && size == 0);
  if (gone && samples) {
    OnSampleReallocFreed(old);
  } else if (gone) {
    OnReallocFreed(old, address);
  } else if (samples) {
    OnSampleReallocFailed(old, address);
  } else {
    OnReallocFailed(old, address);
  }
  return result;
}

template <typename RealCall>
[[gnu::always_inline]] inline void* AllocateSampled(size_t size, const Caller& caller,
                                                    RealCall real_call) {
  if (__builtin_expect(!CountsSamples(), 0)) return real_call();
  if (__builtin_expect(!TakesSample(size), 1)) return CallInScope(kInAllocator, real_call);
  void* address = CallInScope(kInAllocator, real_call);
  if (address != nullptr) OnSampled(address, size, caller);
  return address;
}

template <typename RealCall>
[[gnu::always_inline]] inline void ReleaseSampled(void* address, RealCall real_call) {
  if (__builtin_expect(!CountsSamples(), 0)) {
    if (CountsAnything()) {
      ReleaseStopped(address, real_call);
    } else {
      real_call();
    }
    return;
  }
  if (MaybeSample(address)) OnSampleFree(address);
  CallInScope(kInAllocator | kInFree, real_call);
}

// The real delete of a block that is no sample may call free for a block that is (hook.h,
// ReleaseBy). So that is checked too.
template <typename RealCall>
[[gnu::always_inline]] inline void ReleaseSampledByDelete(void* address, RealCall real_call) {
  if (!CountsSamples() || MaybeSample(address)) {
    ReleaseSampled(address, real_call);
  } else {
    CallInScope(kInAllocator, real_call);
  }
}

// `frees_for_nothing`: nullptr for a size of 0 means that the block was freed.
template <typename RealCall>
[[gnu::always_inline]] inline void* ReallocateSampled(void* address, size_t size,
                                                      bool frees_for_nothing, const Caller& caller,
                                                      RealCall real_call) {
  if (__builtin_expect(!CountsSamples(), 0)) {
    return CountsAnything() ? ReallocateStopped(address, size, frees_for_nothing, real_call)
                            : real_call();
  }
  const bool sampled = TakesSample(size);
  const bool maybe = address != nullptr && MaybeSample(address);
  if (__builtin_expect(!sampled && !maybe, 1)) return CallInScope(kInAllocator, real_call);
  const ClaimedBlock old = maybe ? ClaimSample(address) : ClaimedBlock{};
  void* result = CallInScope(kInAllocator, real_call);
  if (result != nullptr) {
    OnSampleReallocated(old, result, size, sampled, caller);
  } else if (frees_for_nothing && size == 0) {
    OnSampleReallocFreed(old);
  } else {
    OnSampleReallocFailed(old, address);
  }
  return result;
}

}  // namespace memprof
