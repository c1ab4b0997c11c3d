// Signals of the supervisor: all that can be caught are blocked and read from a descriptor.
//
//   sent by a process (kill, sigqueue)  forwarded to the program
//   sent by the kernel (the terminal)   the program got it too: not sent twice
//   SIGCHLD                             the program changed its state
//
// One object a process; restores the mask when destroyed.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <optional>

namespace memprof {

class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  int fd() const { return fd_; }
  const sigset_t& mask_before() const { return before_; }
  const struct sigaction& file_size_action_before() const { return file_size_action_; }

  // The next signal to forward; SIGCHLD is returned as such. nullopt: no more.
  std::optional<int> Next();

 private:
  sigset_t before_;
  struct sigaction file_size_action_;
  int fd_;
};

}  // namespace memprof
