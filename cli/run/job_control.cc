#include "cli/run/job_control.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>

namespace memprof {
namespace {

bool HasTerminal() {
  const int fd = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) return false;
  close(fd);
  return true;
}

}  // namespace

void StopWithProgram() {
  const pid_t parent = getppid();
  if (getpgid(parent) == getpgrp() || getsid(parent) != getsid(0) || !HasTerminal()) return;
  kill(getpid(), SIGSTOP);
}

}  // namespace memprof
