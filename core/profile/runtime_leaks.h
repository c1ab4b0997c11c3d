// What of a snapshot's leaks libc, libstdc++ and the loader keep by design
// (core/profile/runtime_kept.h), as every report tells it.
//
// Thread safety: that of the symbolizer.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/count.h"
#include "core/snapshot/snapshot.h"
#include "core/symbolizer/symbolizer.h"

namespace memprof {

// Why a site's blocks are kept; null: they are the program's. `functions` has for each frame of the
// snapshot the outermost function of its return address.
const char* WhyKept(const Snapshot& snapshot, std::span<const std::string_view> functions,
                    const SnapshotSite& site);

// The sum over all sites. Only the frames that the rules ask for are resolved: some of libc's.
Count SumKeptByRuntime(const Snapshot& snapshot, Symbolizer& symbolizer);

// To stand behind what leaked: ", 71.0 KiB of it kept by design by the runtime", ", all of it …";
// empty: none of it is.
std::string KeptByRuntimeText(const Count& leaked, const Count& kept, bool estimated);

}  // namespace memprof
