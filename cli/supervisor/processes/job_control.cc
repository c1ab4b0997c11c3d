#include "cli/supervisor/processes/job_control.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

#include "cli/basics/proc_files.h"

namespace memprof {
namespace {

using std::chrono::steady_clock;

constexpr timespec kWatchInterval = {0, 50 * 1000 * 1000};

// Reads /proc/PID/stat: "pid (name) state …". Async-signal-safe, for the watcher.
bool IsStopped(int stat_fd) {
  char text[512];
  const ssize_t n = pread(stat_fd, text, sizeof text - 1, 0);
  if (n <= 0) return false;
  text[n] = 0;
  const char* end_of_name = strrchr(text, ')');
  return end_of_name != nullptr && end_of_name[1] == ' ' && end_of_name[2] == 'T';
}

// Runs in the forked child; the parent's other threads may have held any lock.
[[noreturn]] void Watch(int stat_fd, pid_t parent, steady_clock::time_point wake) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  while (getppid() == parent && IsStopped(stat_fd) && steady_clock::now() < wake) {
    nanosleep(&kWatchInterval, nullptr);
  }
  if (getppid() == parent) kill(parent, SIGCONT);
  // The parent kills the watcher: if it exited by itself, the parent would get one more SIGCHLD.
  for (;;) pause();
}

}  // namespace

void StopWithProgram(pid_t program, steady_clock::time_point wake) {
  ScopedFd stat = OpenProcFile(program, "stat");
  const pid_t self = getpid();
  const pid_t watcher = fork();
  if (watcher == 0) Watch(stat.get(), self, wake);
  stat.Reset();
  if (watcher < 0) return;
  kill(self, SIGSTOP);
  kill(watcher, SIGKILL);
  while (waitpid(watcher, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::optional<siginfo_t> EndOfProgram(pid_t program, steady_clock::time_point wake) {
  const auto pid = static_cast<id_t>(program);
  for (;;) {
    siginfo_t info = {};
    if (waitid(P_PID, pid, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid != program) {
      return std::nullopt;
    }
    if (info.si_code != CLD_STOPPED && info.si_code != CLD_TRAPPED) return info;
    waitid(P_PID, pid, &info, WSTOPPED | WNOHANG);
    if (steady_clock::now() < wake) StopWithProgram(program, wake);
  }
}

}  // namespace memprof
