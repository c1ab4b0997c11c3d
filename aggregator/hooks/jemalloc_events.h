// JemallocEvents: the tracker's functions that the hooks of jemalloc's extended interface call.
//
// mallocx and similar functions are hooked by a library of their own, aggregator/jemalloc: programs
// that look for jemalloc by a weak `mallocx` must find it only if jemalloc is there. That library
// finds this table by its name in the loader's global scope. The number in the name is the
// layout's. Libraries of different builds therefore never use each other's table, and their hooks
// only forward.
//
// Each function takes the real one, calls it and counts its effect as the C hooks do. The requested
// size counts. An xallocx has succeeded if the block has at least `size` bytes afterwards; it is
// then an event like that of realloc, and otherwise none.
//
// Thread safety: any thread, any moment (events/heap_events.h).
#pragma once

#include <cstddef>

#include "aggregator/unwind/stack_capture.h"

namespace memprof {

using Mallocx = void*(size_t size, int flags);
using Rallocx = void*(void* address, size_t size, int flags);
using Xallocx = size_t(void* address, size_t size, size_t extra, int flags);
using Dallocx = void(void* address, int flags);
using Sdallocx = void(void* address, size_t size, int flags);

struct JemallocEvents {
  void* (*mallocx)(Mallocx* real, size_t size, int flags, const StartRegisters& start);
  void* (*rallocx)(Rallocx* real, void* address, size_t size, int flags,
                   const StartRegisters& start);
  size_t (*xallocx)(Xallocx* real, void* address, size_t size, size_t extra, int flags,
                    const StartRegisters& start);
  void (*dallocx)(Dallocx* real, void* address, int flags);
  void (*sdallocx)(Sdallocx* real, void* address, size_t size, int flags);
};

}  // namespace memprof

extern "C" {
[[gnu::visibility("default")]] extern const memprof::JemallocEvents memprof_jemalloc_events_v2;
}
