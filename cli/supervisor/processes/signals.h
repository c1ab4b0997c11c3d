// Signals of the supervisor: all that can be caught are blocked and read from a descriptor.
//
//   sent by a process (kill, sigqueue)  forwarded to the program
//   sent by the kernel (the terminal)   the program got it too: not sent twice. But a hang-up of
//                                       the terminal comes to a session's leader alone: forwarded
//   SIGCHLD                             the program changed its state
//
// One object a process. Nothing is restored at its end: a signal that comes after the program's end
// must not take the place of the program's status.
#pragma once

#include <sys/signalfd.h>
#include <sys/types.h>

#include <csignal>
#include <optional>

namespace memprof {

// What the program is to inherit: what memprof itself inherited.
struct InheritedSignals {
  sigset_t mask;
  struct sigaction child_action;      // SIGCHLD: ignored, nobody could wait for the program
  struct sigaction file_size_action;  // SIGXFSZ: a write beyond RLIMIT_FSIZE would be our end
};

// Async-signal-safe: for the forked child.
void RestoreSignals(const InheritedSignals& inherited);

class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  int fd() const { return fd_; }
  const InheritedSignals& inherited() const { return inherited_; }

  // The next signal to forward; SIGCHLD is returned as such. nullopt: no more.
  std::optional<int> Next();
  // The next whoever sent it: where there is no program of ours that would have got it too.
  std::optional<int> NextOfAny();

 private:
  InheritedSignals inherited_ = {};
  int fd_;
};

// Whether the program is to get it from us. Pure, for the tests.
bool IsForwarded(const signalfd_siginfo& info, pid_t self, bool session_leader);

}  // namespace memprof
