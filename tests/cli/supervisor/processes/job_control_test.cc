#include "cli/supervisor/processes/job_control.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>

namespace memprof {
namespace {

// A supervisor (a child of the test) whose program is stopped, and which has stopped with it.
class JobControl : public testing::Test {
 protected:
  explicit JobControl(bool wakes = false) : wakes_(wakes) {}

  void SetUp() override {
    int fds[2];
    ASSERT_EQ(pipe(fds), 0);
    supervisor_ = fork();
    if (supervisor_ == 0) {
      const pid_t program = fork();
      if (program == 0) {
        raise(SIGSTOP);
        _exit(0);
      }
      waitpid(program, nullptr, WUNTRACED);
      (void)!write(fds[1], &program, sizeof program);
      const auto limit = std::chrono::seconds(wakes_ ? 1 : 1000);
      StopWithProgram(program, std::chrono::steady_clock::now() + limit);
      int status = 0;
      kill(program, SIGCONT);
      waitpid(program, &status, 0);
      // No other child is left: the watcher is gone.
      _exit(waitpid(-1, nullptr, WNOHANG) < 0 ? 0 : 1);
    }
    ASSERT_EQ(read(fds[0], &program_, sizeof program_), static_cast<ssize_t>(sizeof program_));
    close(fds[0]);
    close(fds[1]);
    int status;
    ASSERT_EQ(waitpid(supervisor_, &status, WUNTRACED), supervisor_);
    ASSERT_TRUE(WIFSTOPPED(status));
  }

  void ExpectThatItGoesOn() {
    int status;
    ASSERT_EQ(waitpid(supervisor_, &status, 0), supervisor_);
    EXPECT_EQ(status, 0);
  }

  const bool wakes_;  // after a second
  pid_t supervisor_ = -1;
  pid_t program_ = -1;
};

TEST_F(JobControl, GoesOnWhenItIsContinued) {
  kill(supervisor_, SIGCONT);
  ExpectThatItGoesOn();
}

TEST_F(JobControl, GoesOnWhenTheProgramAloneIsContinued) {
  kill(program_, SIGCONT);
  ExpectThatItGoesOn();
}

class JobControlUntil : public JobControl {
 protected:
  JobControlUntil() : JobControl(true) {}
};

TEST_F(JobControlUntil, GoesOnAtThatTimeAlthoughTheProgramDoesNot) { ExpectThatItGoesOn(); }

TEST_F(JobControl, GoesOnWhenTheProgramIsKilled) {
  kill(program_, SIGKILL);
  ExpectThatItGoesOn();
}

}  // namespace
}  // namespace memprof
