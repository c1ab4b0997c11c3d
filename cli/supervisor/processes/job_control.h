// When the program is stopped, who waits for us must see us stopped: to a shell we are the job.
//
//   program stops (Ctrl-Z, SIGTSTP, SIGSTOP, SIGTTIN)  →  a watcher is forked, we stop
//   SIGCONT to us or to the job, or the program goes on or ends (the watcher sees it)  →  we go on
//
// The watcher is there since who stops the program alone will continue it alone.
// Thread safety: one thread at a time. Failure: without a watcher we do not stop.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <optional>

namespace memprof {

// Stops this process while `program`, a stopped child of it, is stopped. Returns when continued.
void StopWithProgram(pid_t program);

// How `program`, a child of this process, has ended; it is not reaped. Nothing: it has not. While
// it is stopped, so is this process.
std::optional<siginfo_t> EndOfProgram(pid_t program);

}  // namespace memprof
