// SystemCalls: the system calls that the tracker may make in this process.
//
// A program that filters its calls (seccomp) may be killed by one that it didn't foresee. From the
// moment it announces a filter, the tracker makes only the calls that every allocator makes itself:
// mmap, munmap and mprotect. It makes no madvise, because malloc doesn't need it. In strict mode it
// makes none at all, and counts with the memory that it has. system_call_filters.h describes how
// filters are noticed.
//
// Thread safety: any thread. Permissions are only ever taken away.
#pragma once

#include <atomic>
#include <cstdint>

namespace memprof {

enum class SystemCalls : uint32_t { kAny, kOfAllocators, kNone };

inline constinit std::atomic<SystemCalls> allowed_system_calls{SystemCalls::kAny};

inline void AllowOnly(SystemCalls calls) {
  SystemCalls now = allowed_system_calls.load(std::memory_order_relaxed);
  while (now < calls &&
         !allowed_system_calls.compare_exchange_weak(now, calls, std::memory_order_relaxed)) {
  }
}

inline bool SystemCallsFiltered() {
  return allowed_system_calls.load(std::memory_order_relaxed) != SystemCalls::kAny;
}
inline bool MayMapMemory() {
  return allowed_system_calls.load(std::memory_order_relaxed) != SystemCalls::kNone;
}

}  // namespace memprof
