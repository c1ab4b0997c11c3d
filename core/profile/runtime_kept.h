// What libc, libstdc++ and the loader keep until the process ends, by design. No leak of the
// program: it is in the totals, and reports show it as one row (kRuntimeRow).
//
// A rule is narrow, so that a leak of the program that passes through the same library is never
// hidden: it names the function that keeps the memory, or a function of libc that gives its caller
// no memory to free, so that what it leaves is libc's own.
//
// Thread safety: pure.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "core/snapshot/snapshot.h"

namespace memprof {

// One frame of a stack as the rules see it: of what is inlined, the function that has the frame.
struct RuntimeFrame {
  std::string_view function;
  std::string_view module;  // path
};

// No rule looks further than this.
inline constexpr size_t kRuntimeFrames = 32;

// `frames` innermost first, `site` with its figures, which are estimates unless `sample_bytes` is
// 0. The reason, a static string; null: none.
const char* WhyKeptByRuntime(std::span<const RuntimeFrame> frames, const SnapshotSite& site,
                             uint64_t sample_bytes = 0);

// The rules look at the functions of so many of the innermost frames; of the others they need the
// module alone.
size_t CountNamedFrames(std::span<const RuntimeFrame> frames);

}  // namespace memprof
