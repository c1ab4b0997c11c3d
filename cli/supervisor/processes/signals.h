// Signals of the supervisor: all that can be caught are blocked and read from a descriptor.
//
//   sent by a process (kill, sigqueue)  forwarded to the program, unless the program or a descendant
//                                       of it sent it: to its process group, which the program is in
//                                       itself, or to its parent, which it isn't
//   sent by the kernel (the terminal)   not forwarded, because the program got it too. The
//                                       exception is a hang-up, which only a session's leader gets:
//                                       forwarded
//   SIGCHLD                             the program changed its state
//
// One object a process. Nothing is restored at its end: a signal that comes after the program's end
// must not replace the program's status.
#pragma once

#include <sys/signalfd.h>
#include <sys/types.h>

#include <csignal>
#include <optional>

#include "core/scoped_fd.h"

namespace memprof {

// The signal settings that memprof inherited and the program is to inherit.
struct InheritedSignals {
  sigset_t mask;
  // of SIGCHLD: while it is ignored, nobody can wait for the program
  struct sigaction child_action;
  struct sigaction file_size_action;  // of SIGXFSZ: a write beyond RLIMIT_FSIZE would end us
};

// Async-signal-safe: runs in the forked child.
void RestoreSignals(const InheritedSignals& inherited);

class Signals {
 public:
  Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  int fd() const { return fd_.get(); }
  const InheritedSignals& inherited() const { return inherited_; }

  // The next signal to forward to the program; SIGCHLD is returned as such. nullopt: no more.
  std::optional<int> Next(pid_t program = 0);
  // The next signal from any sender, for programs that are not our child and so did not get it
  // themselves.
  std::optional<int> NextOfAny();

 private:
  InheritedSignals inherited_ = {};
  ScopedFd fd_;
};

// Whether to forward a signal that the program didn't send. Pure, for the tests.
bool IsForwarded(const signalfd_siginfo& info, pid_t self, bool session_leader);

// True if a living process is `program` or a descendant of it.
bool IsOfProgram(pid_t sender, pid_t program);

}  // namespace memprof
