// InnerMallctl: the mallctl of a jemalloc inside the executable, if that is hooked
// (hooks/inner_jemalloc.h).
//
// Thread safety: any thread; set once.
#pragma once

#include <atomic>
#include <cstddef>

namespace memprof {

using Mallctl = int(const char* name, void* old, size_t* old_bytes, void* fresh, size_t bytes);

inline constinit std::atomic<Mallctl*> inner_mallctl{nullptr};

// Also valid in forked children; nullptr: there is none. It may be called wherever malloc may be,
// and from an event of jemalloc's, which holds no lock then.
inline Mallctl* InnerMallctl() { return inner_mallctl.load(std::memory_order_relaxed); }

}  // namespace memprof
