// The parts of a snapshot's leaks that need not be mistakes, worded the same in every report: what
// libc, libstdc++ and the loader keep by design (core/profile/runtime_kept.h), and what threads hold
// that still ran at the end (core/region/running_threads.h). A site is in one of them at most.
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

struct LeakClasses {
  Count kept_by_runtime;
  Count of_running_threads;
};

// The sums over all sites. Resolves only the frames that the rules ask for.
LeakClasses ClassifyLeaks(const Snapshot& snapshot, Symbolizer& symbolizer);

// Text to follow the leaked figure: ", 71.0 KiB of it kept by design by the runtime", ", all of it
// …". Empty if nothing is kept.
std::string KeptByRuntimeText(const Count& leaked, const Count& kept, bool estimated);

// The same for the blocks of threads that still ran at the end: "12.0 KiB of it in 3 blocks of
// threads that still ran at the end", "all of it of threads …". Empty if there are none.
std::string RunningThreadsText(const Count& leaked, const Count& of_running_threads);

// Both, each with ", " before it.
std::string LeakClassesText(const Count& leaked, const LeakClasses& classes, bool estimated);

}  // namespace memprof
