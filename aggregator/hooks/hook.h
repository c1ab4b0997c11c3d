// What every hook is made of.
//
//   extern "C" MEMPROF_HOOK void* malloc(size_t size) {
//     return Allocate(size, 0, {MEMPROF_CALLER(), AllocatorKind::kMalloc},
//                     [=] { return real.malloc(size); });
//   }
//
// MEMPROF_CALLER and MEMPROF_RETURN read the hook's own frame: they must be evaluated in the hook
// itself.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "aggregator/hooks/next_function.h"
#include "aggregator/hooks/real_allocator.h"
#include "aggregator/hooks/sampled_hook.h"
#include "aggregator/tracker.h"

// Exported, and with a frame pointer of its own whatever the optimiser would like.
#define MEMPROF_HOOK __attribute__((visibility("default"), noinline, used))

#define MEMPROF_CALLER()                                                               \
  (::memprof::StartRegisters{                                                          \
      reinterpret_cast<uintptr_t>(__builtin_return_address(0)),                        \
      reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) + 2 * sizeof(uintptr_t), \
      *static_cast<uintptr_t*>(__builtin_frame_address(0))})

// Where the hook returns to.
#define MEMPROF_RETURN() (reinterpret_cast<uintptr_t>(__builtin_return_address(0)))

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
// Nothing is looked for: who calls may be an allocator, under its lock.
template <typename Function>
[[gnu::always_inline]] inline Function* Known(NextFunction which) {
  void* symbol = next_functions[static_cast<size_t>(which)].load(std::memory_order_relaxed);
  Function* function;
  memcpy(&function, &symbol, sizeof symbol);
  return function;
}

// The same, found now if it wasn't yet, for what libc always has: it is never looked for later.
template <typename Function>
[[gnu::always_inline]] inline Function* NextFromStart(NextFunction which) {
  ResolveNextFunctions();
  return Known<Function>(which);
}

// What a function of libc makes of a system call's result.
inline long ResultAndErrno(long result) {
  if (result >= 0 || result < -4095) return result;
  errno = static_cast<int>(-result);
  return -1;
}

// An allocation: calls the real function and counts its result. `real_call` is not called before
// the real functions are known: then the arena gives memory that is never counted.
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

// The block is not known. It is a free of such a one only where the real delete came to no free
// that a hook saw.
template <typename RealCall>
[[gnu::noinline, gnu::cold]] void DeleteUnknown(void* address, RealCall real_call) {
  const uint64_t size = SizeOfUnknown(address);
  thread_state.freed = 0;
  CallInScope(kInAllocator, real_call);
  if (thread_state.freed == 0) OnUnknownDeleted(size);
}

// A free: forgets the block before the real free, after which another thread may get the address.
//
// By an operator delete: a program that replaces some of the operators may keep a header before each
// block. Only the malloc of what its own new gives out was seen, and here comes the address behind
// the header, which nobody knows. Then the free that the real delete comes to is counted by itself.
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
  // What the real free will look at first, on its way while we count.
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
