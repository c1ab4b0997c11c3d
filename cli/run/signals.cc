#include "cli/run/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

namespace memprof {

Signals::Signals() {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &before_);
  // A write beyond RLIMIT_FSIZE is to be an error, not our end.
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGXFSZ, &ignore, &file_size_action_);
  fd_ = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
}

Signals::~Signals() {
  close(fd_);
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

std::optional<int> Signals::Next() {
  signalfd_siginfo info;
  while (read(fd_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    const int number = static_cast<int>(info.ssi_signo);
    if (number == SIGCHLD) return number;
    const bool by_process =
        info.ssi_code == SI_USER || info.ssi_code == SI_QUEUE || info.ssi_code == SI_TKILL;
    // A SIGPIPE of our own writing has our own pid.
    if (by_process && static_cast<pid_t>(info.ssi_pid) != getpid()) return number;
  }
  return std::nullopt;
}

}  // namespace memprof
