#include "cli/supervisor/processes/signals.h"

#include <unistd.h>

#include "cli/basics/process_facts.h"

namespace memprof {

void RestoreSignals(const InheritedSignals& inherited) {
  sigaction(SIGCHLD, &inherited.child_action, nullptr);
  sigaction(SIGXFSZ, &inherited.file_size_action, nullptr);
  sigprocmask(SIG_SETMASK, &inherited.mask, nullptr);
}

Signals::Signals() {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &inherited_.mask);
  struct sigaction action = {};
  action.sa_handler = SIG_IGN;
  sigaction(SIGXFSZ, &action, &inherited_.file_size_action);
  action.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &action, &inherited_.child_action);
  fd_.Reset(signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK));
}

bool IsForwarded(const signalfd_siginfo& info, pid_t self, bool session_leader) {
  switch (info.ssi_code) {
    case SI_USER:
    case SI_QUEUE:
    case SI_TKILL:
      // A SIGPIPE that our own writing raised has our own pid.
      return static_cast<pid_t>(info.ssi_pid) != self;
    default:
      return info.ssi_signo == SIGHUP && session_leader;
  }
}

std::optional<int> Signals::NextOfAny() {
  signalfd_siginfo info;
  if (read(fd(), &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return std::nullopt;
  return static_cast<int>(info.ssi_signo);
}

bool IsOfProgram(pid_t sender, pid_t program) {
  constexpr int kDeepest = 64;
  for (int i = 0; i < kDeepest && sender > 1 && program > 0; ++i) {
    if (sender == program) return true;
    const auto state = StateOf(sender);
    if (!state) return false;
    sender = state->parent;
  }
  return false;
}

std::optional<int> Signals::Next(pid_t program) {
  signalfd_siginfo info;
  while (read(fd(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    const int number = static_cast<int>(info.ssi_signo);
    if (number == SIGCHLD) return number;
    if (!IsForwarded(info, getpid(), getsid(0) == getpid())) continue;
    if (!IsOfProgram(static_cast<pid_t>(info.ssi_pid), program)) return number;
  }
  return std::nullopt;
}

}  // namespace memprof
