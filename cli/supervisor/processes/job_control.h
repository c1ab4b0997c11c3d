// Job control: when the program is stopped, memprof stops too, because a shell sees memprof as the
// job.
//
//   program stops (Ctrl-Z, SIGTSTP, SIGSTOP, SIGTTIN)  →  a watcher is forked, we stop
//   SIGCONT to us or to the job, or the program goes on or ends (the watcher sees it)  →  we go on
//   a given time has come                                                              →  we go on
//
// The watcher is needed because a SIGCONT may go to the program alone.
// Thread safety: one thread at a time. Failure: without a watcher we do not stop.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <optional>

namespace memprof {

// Stops this process while `program`, a stopped child of it, is stopped, at most until `wake`.
// Returns when continued.
void StopWithProgram(pid_t program, std::chrono::steady_clock::time_point wake =
                                        std::chrono::steady_clock::time_point::max());

// How `program`, a child of this process, has ended; it is not reaped. Unset if it has not ended.
// Stops this process as long as the program is stopped, at most until `wake`.
std::optional<siginfo_t> EndOfProgram(
    pid_t program,
    std::chrono::steady_clock::time_point wake = std::chrono::steady_clock::time_point::max());

}  // namespace memprof
