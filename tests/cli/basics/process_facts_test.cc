#include "cli/basics/process_facts.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace memprof {
namespace {

// A child that waits to be killed, whose name looks like the text after a name.
class Sleeper {
 public:
  Sleeper() : pid_(fork()) {
    if (pid_ != 0) return;
    prctl(PR_SET_NAME, "a) Z 1 (b) 2 3");
    for (;;) pause();
  }
  ~Sleeper() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }

 private:
  const pid_t pid_;
};

TEST(StartTicksOf, AChildStartedNoEarlierAndALaterOneLater) {
  const auto own = StartTicksOf(getpid());
  const Sleeper first;
  std::this_thread::sleep_for(std::chrono::milliseconds(30));  // a tick is 10
  const Sleeper second;
  ASSERT_TRUE(own && StartTicksOf(first.pid()) && StartTicksOf(second.pid()));
  EXPECT_LE(*own, *StartTicksOf(first.pid()));
  EXPECT_LT(*StartTicksOf(first.pid()), *StartTicksOf(second.pid()));
}

TEST(StartTicksOf, OfNobodyItIsNotKnown) { EXPECT_FALSE(StartTicksOf(0x7fffffff)); }

TEST(WaitStatusOf, ANameIsTakenForNoState) {
  const Sleeper child;
  while (CommandNameOf(child.pid()) != "a) Z 1 (b) 2 3") std::this_thread::yield();
  EXPECT_FALSE(WaitStatusOf(child.pid()));
}

}  // namespace
}  // namespace memprof
