// The part of a snapshot's leaks that libc, libstdc++ and the loader keep by design
// (core/profile/runtime_kept.h), worded the same in every report.
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

// Returns why a site's blocks are kept, or null if they are the program's. `functions` has, for
// each frame of the snapshot, the outermost function of its return address.
const char* WhyKept(const Snapshot& snapshot, std::span<const std::string_view> functions,
                    const SnapshotSite& site);

// The sum over all sites. Resolves only the frames that the rules ask for.
Count SumKeptByRuntime(const Snapshot& snapshot, Symbolizer& symbolizer);

// Text to follow the leaked figure: ", 71.0 KiB of it kept by design by the runtime", ", all of it
// …". Empty if nothing is kept.
std::string KeptByRuntimeText(const Count& leaked, const Count& kept, bool estimated);

}  // namespace memprof
