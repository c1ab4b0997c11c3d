// The building blocks of every hook.
//
//   extern "C" MEMPROF_HOOK void* malloc(size_t size) {
//     return Allocate(size, 0, {MEMPROF_CALLER(), AllocatorKind::kMalloc},
//                     [=] { return real.malloc(size); });
//   }
#pragma once

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "aggregator/allocator/next_function.h"
#include "aggregator/allocator/real_allocator.h"
#include "aggregator/events/caller.h"
#include "aggregator/events/heap_events.h"
#include "aggregator/events/left_scope.h"
#include "aggregator/hooks/sampled_hook.h"
#include "aggregator/state/counting.h"
#include "aggregator/state/thread_state.h"

// Exported, and with a frame pointer of its own at any optimisation level.
#define MEMPROF_HOOK __attribute__((visibility("default"), noinline, used))

namespace memprof {

// The real function behind a hook whose call returns to `caller`. nullptr: nobody has it.
template <typename Function>
[[gnu::always_inline]] inline Function* Next(NextFunction which, uintptr_t caller) {
  void* symbol = next_functions[static_cast<size_t>(which)].load(std::memory_order_relaxed);
  if (__builtin_expect(symbol == nullptr, 0)) symbol = FindNextFor(which, caller);
  Function* function;
  memcpy(&function, &symbol, sizeof symbol);
  return function;
}

// The real function, if it was found while the program started; nullptr: not yet, or nobody has it.
// It searches nothing: the caller may be an allocator that holds its lock.
template <typename Function>
[[gnu::always_inline]] inline Function* Known(NextFunction which) {
  void* symbol = next_functions[static_cast<size_t>(which)].load(std::memory_order_relaxed);
  Function* function;
  memcpy(&function, &symbol, sizeof symbol);
  return function;
}

// The same, but searched now if it wasn't before. For functions that libc always has.
template <typename Function>
[[gnu::always_inline]] inline Function* NextFromStart(NextFunction which) {
  ResolveNextFunctions();
  return Known<Function>(which);
}

// Converts a system call's result as a function of libc does.
inline long ResultAndErrno(long result) {
  if (result >= 0 || result < -4095) return result;
  errno = static_cast<int>(-result);
  return -1;
}

// An allocation: calls the real function and counts its result. `real_call` is not called before
// the real functions are known: the arena gives memory then, which is never counted.
template <typename RealCall>
[[gnu::always_inline]] inline void* Allocate(size_t size, size_t alignment, const Caller& caller,
                                             RealCall real_call) {
  if (__builtin_expect(!RealReady(), 0)) return ArenaAllocate(size, alignment);
  if (CalledWithin(kInAllocator, caller.registers.sp)) return real_call();
  if (!CountsAll()) return AllocateSampled(size, caller, real_call);
  void* address;
  {
    const AllocatorScope scope;
    address = real_call();
  }
  if (address != nullptr) OnAllocated(address, size, caller);
  return address;
}

// A resize of a block: calls the real function and counts its result. `frees_for_nothing`: nullptr
// means that the block was freed; otherwise the block is still there. Pre: RealReady().
template <typename RealCall>
[[gnu::always_inline]] inline void* ReallocateBlock(void* address, size_t size,
                                                    bool frees_for_nothing, const Caller& caller,
                                                    RealCall real_call) {
  if (CalledWithin(kInAllocator, caller.registers.sp)) return real_call();
  if (!CountsAll()) {
    return ReallocateSampled(address, size, frees_for_nothing, caller, real_call);
  }
  const ClaimedBlock old = address != nullptr ? ClaimForRealloc(address) : ClaimedBlock{};
  void* result;
  {
    const AllocatorScope scope;
    result = real_call();
  }
  if (result != nullptr) {
    OnReallocated(old, result, size, caller);
  } else if (address != nullptr) {
    if (frees_for_nothing) {
      OnReallocFreed(old, address);
    } else {
      OnReallocFailed(old, address);
    }
  }
  return result;
}

// The block is not known. It counts as the free of an unknown block only if the real delete called
// no free that a hook saw.
template <typename RealCall>
[[gnu::noinline, gnu::cold]] void DeleteUnknown(void* address, RealCall real_call) {
  const uint64_t size = SizeOfUnknown(address);
  thread_state.freed = 0;
  CallInScope(kInAllocator, real_call);
  if (thread_state.freed == 0) OnUnknownDeleted(size);
}

// A free: forgets the block before the real free, after which another thread may get the address.
//
// By an operator delete: a program that replaces some of the operators may keep a header before
// each block. Then only the malloc inside its new was seen, and delete gets the address behind the
// header, which isn't known. The free that the real delete calls is then counted by itself.
enum class ReleasedBy { kFree, kDelete };
template <ReleasedBy kBy, typename RealCall>
[[gnu::always_inline]] inline void ReleaseBy(void* address, RealCall real_call) {
  if (address == nullptr || InArena(address)) return;
  const auto sp = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  if (CalledWithin(kInFree, sp)) {
    real_call();
    return;
  }
  if (!CountsAll()) {
    if constexpr (kBy == ReleasedBy::kDelete) {
      ReleaseSampledByDelete(address, real_call);
    } else {
      ReleaseSampled(address, real_call);
    }
    return;
  }
  // The real free reads this first; it arrives while we count.
  __builtin_prefetch(static_cast<char*>(address) - 2 * sizeof(size_t), 1);
  if constexpr (kBy == ReleasedBy::kDelete) {
    if (__builtin_expect(!OnDelete(address), 0)) {
      DeleteUnknown(address, real_call);
      return;
    }
  } else {
    OnFree(address);
  }
  const AllocatorScope scope(kInAllocator | kInFree);
  real_call();
}

template <typename RealCall>
[[gnu::always_inline]] inline void Release(void* address, RealCall real_call) {
  ReleaseBy<ReleasedBy::kFree>(address, real_call);
}
template <typename RealCall>
[[gnu::always_inline]] inline void ReleaseByDelete(void* address, RealCall real_call) {
  ReleaseBy<ReleasedBy::kDelete>(address, real_call);
}

}  // namespace memprof
