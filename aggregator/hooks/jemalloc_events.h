// JemallocEvents: what the hooks of jemalloc's extended interface call in the tracker.
//
// mallocx and its like are hooked by a library of their own, aggregator/jemalloc: programs that
// look for jemalloc by a weak `mallocx` must find it only where it is. That library finds this
// table by its name in the loader's global scope. The number in the name is the layout's: another
// layout is another name, so libraries of different builds never meet, and the hooks only forward.
//
// Each function takes the real one, calls it and counts what it did as the C hooks do. What counts
// is the size that was asked for. xallocx has succeeded if the block has at least `size` bytes now;
// it is an event like that of realloc then, and otherwise none.
//
// Thread safety: any thread, any moment (tracker.h).
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
