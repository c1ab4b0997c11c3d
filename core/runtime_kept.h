// What libc, libstdc++ and the loader keep until the process ends, by design. No leak of the
// program: it is in the totals, and reports show it as one row (kRuntimeRow).
//
// Each rule of the table is narrow: it names the function that keeps the memory and its library, so
// that a leak of the program that passes through the same library is never hidden.
//
// Thread safety: pure.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "core/snapshot.h"

namespace memprof {

// One frame of a stack as the rules see it.
struct RuntimeFrame {
  std::string_view function;
  std::string_view module;  // path
};

// `frames` innermost first, `site` with its figures. The reason, a static string; null: none.
const char* WhyKeptByRuntime(std::span<const RuntimeFrame> frames, const SnapshotSite& site);

}  // namespace memprof
