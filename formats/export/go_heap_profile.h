// The heap profile that a Go program answers at /debug/pprof/heap and /debug/pprof/allocs, so that what
// scrapes Go programs takes this one: the sample types alloc_objects, alloc_space, inuse_objects and
// inuse_space in this order, and no labels, which would split the series of some systems.
//
// Thread safety: pure. Invariant: the values sum to the profiles' totals.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/profile/profile.h"

namespace memprof {

struct GoHeapOptions {
  int64_t time_ns = 0;       // when the figures were read, since 1970
  uint64_t duration_ns = 0;  // of a difference: the time between both
  bool allocs = false;       // what was allocated in all is shown first, not what is live
  bool threads = false;      // a sample for each thread, with its name as the label "thread"
};

// `now`: the processes, which are summed. `before`: what is taken off; empty: nothing.
std::string GoHeapProfile(std::span<const Profile> now, std::span<const Profile> before,
                          const GoHeapOptions& options);

// The same as text, as Go writes it for ?debug=1, which pprof reads too.
std::string GoHeapText(std::span<const Profile> now);

}  // namespace memprof
