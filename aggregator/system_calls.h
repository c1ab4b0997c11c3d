// SystemCalls: which system calls the tracker may make in this process.
//
// A host that filters its calls (seccomp) may be killed by one that it didn't foresee. From the
// moment it says that it will, the tracker makes none but those that every allocator makes itself:
// mmap, munmap and mprotect. No madvise: malloc needs none of it. In strict mode it makes none at
// all: what it has is what it counts with. system_call_filters.h tells how filters are noticed.
//
// Thread safety: any thread. It is only ever forbidden more.
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
