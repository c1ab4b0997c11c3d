// SystemCallFilters: whether the process has filters of system calls (seccomp) that nobody told us
// of. A filter may kill for any call that it doesn't know, so these are asked for with what the
// program calls itself:
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

#include "aggregator/kernel_calls.h"
#include "aggregator/system_calls.h"

namespace memprof {

// How many filters the process was started with. Called once, before any other call of ours. Where
// the kernel doesn't count them (before 5.9), all are one.
uint32_t InheritedFilters();

// Whether a filter has come since, of which no hook has told: then only the calls of allocators are
// allowed from now on.
bool SystemCallsFilteredByNow();

}  // namespace memprof
