// Rules for memory that libc, libstdc++ and the loader keep until the process ends, by design. The
// program doesn't leak it: it is in the totals, and reports show it as one row (kRuntimeRow).
//
// A rule must be narrow, so that a leak of the program that passes through the same library is
// never hidden. It names either the function that keeps the memory, or a function of libc that
// returns no memory to its caller, so that all it leaves is libc's own.
//
// Thread safety: pure.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "core/snapshot/snapshot.h"

namespace memprof {

// One frame of a stack as the rules see it. For inlined code: the function that has the frame.
struct RuntimeFrame {
  std::string_view function;
  std::string_view module;  // path
};

// No rule looks at more frames than this.
inline constexpr size_t kRuntimeFrames = 32;

// Returns the reason, a static string, or null if no rule applies. `frames` are innermost first;
// `site` has its figures, which are estimates unless `sample_bytes` is 0.
const char* WhyKeptByRuntime(std::span<const RuntimeFrame> frames, const SnapshotSite& site,
                             uint64_t sample_bytes = 0);

// The number of innermost frames whose functions the rules need. For the others they need only the
// module.
size_t CountNamedFrames(std::span<const RuntimeFrame> frames, const SnapshotSite& site,
                        uint64_t sample_bytes = 0);

}  // namespace memprof
