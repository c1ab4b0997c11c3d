// SystemCallFilters: whether the process has seccomp filters that no hook has noticed. A filter may
// kill for any call that it doesn't know, so the check uses only calls that the program makes
// itself:
//
//   inherited over exec   /proc/self/status: openat, read and close are what the loader has just
//                         called in this process. Without /proc: PR_GET_SECCOMP
//   set by prctl()        noted by the hooks before the call (hooks/hooks_process.cc)
//   or syscall()
//   set by the bare       PR_GET_SECCOMP, asked before the tracker's rarer calls: at a thread's
//   instruction           first event, in a forked child, at the end of the process. A filter that
//                         kills for prctl itself is not survived
//
// Thread safety: any thread.
#pragma once

#include <cstdint>

#include "aggregator/basics/kernel_calls.h"
#include "aggregator/basics/system_calls.h"

namespace memprof {

// The number of filters that the process was started with. Called once, before any other call of
// ours. If the kernel doesn't count them (before 5.9), all are one.
uint32_t InheritedFilters();

// True if a filter has come that no hook noticed: from now on only the calls of allocators are
// allowed.
bool SystemCallsFilteredByNow();

}  // namespace memprof
