// HeapInspection: what the live blocks of a running program hold: two looks at it, each in a frozen
// copy, and names for what was found. Only what both looks call lost is lost.
//
//   FrozenCopy ─► live blocks, roots ─► Inspect ─► (again) ─► sites with stacks
//
// Thread safety: one at a time. Failure: a sentence that says what to do; the program goes on as before.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/live/runs.h"
#include "core/inspect/inspection.h"
#include "core/profile/profile.h"
#include "core/symbolizer/symbolizer.h"

namespace memprof {

struct HeapInspection {
  pid_t pid = 0;
  std::string program;
  Inspection found;                // of the last look
  std::vector<std::string> roots;  // names, by HoldingPath::what
  // The stacks. Its sites are in the order of `found.sites`, as far as their sites are known; `leaked`
  // is what is live. `stack_of[i]` is the index in `profile.sites` of found.sites[i], or kNoSite.
  Profile profile;
  std::vector<uint32_t> stack_of;
  unsigned looks = 0;
  std::chrono::microseconds longest_pause{0};
  std::chrono::milliseconds time{0};  // of all looks
  std::vector<std::string> notes;     // what may be wrong, a sentence each
};

struct HeapInspectionOptions {
  unsigned looks = 2;
  std::chrono::milliseconds between_looks{100};
  std::chrono::milliseconds longest_pause{500};  // refuse if it is expected to be longer
  std::function<void(const std::string&)> say;   // gets what is about to be done
};

// How long a copy of a process is expected to stop it. 0: nothing is known.
std::chrono::milliseconds ExpectedPause(pid_t process);

// `pid`: the process, one of the run's; 0: the run's program.
Result<HeapInspection> InspectHeap(const FoundRun& run, pid_t pid, Symbolizer& symbolizer,
                                   const HeapInspectionOptions& options);

}  // namespace memprof
