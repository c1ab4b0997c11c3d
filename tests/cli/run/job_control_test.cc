#include "cli/run/job_control.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

namespace memprof {
namespace {

// A shell: the leader of a session with a terminal. It starts a job that calls StopWithProgram, in
// a process group of its own if `job_control`. Its status: 0 the job stopped, went on when it was
// continued, and ended; 1 it ended without a stop; 2 the shell could not be set up.
int RunShell(bool job_control) {
  const pid_t shell = fork();
  if (shell == 0) {
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (setsid() < 0 || terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0) _exit(2);
    const int line = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    if (line < 0 || ioctl(line, TIOCSCTTY, 0) != 0) _exit(2);
    const pid_t job = fork();
    if (job == 0) {
      if (job_control) setpgid(0, 0);
      StopWithProgram();
      _exit(0);
    }
    int status;
    if (waitpid(job, &status, WUNTRACED) != job) _exit(2);
    if (!WIFSTOPPED(status)) _exit(1);
    kill(job, SIGCONT);
    _exit(waitpid(job, &status, 0) == job && status == 0 ? 0 : 3);
  }
  int status;
  waitpid(shell, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(JobControl, StopsForAShellThatWatchesItsJobs) { EXPECT_EQ(RunShell(true), 0); }

TEST(JobControl, DoesNotStopWhereNobodyWouldContinueIt) { EXPECT_EQ(RunShell(false), 1); }

}  // namespace
}  // namespace memprof
