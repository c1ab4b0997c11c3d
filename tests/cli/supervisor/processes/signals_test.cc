#include "cli/supervisor/processes/signals.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

namespace memprof {
namespace {

signalfd_siginfo Info(int number, int code, pid_t sender) {
  signalfd_siginfo info = {};
  info.ssi_signo = static_cast<uint32_t>(number);
  info.ssi_code = code;
  info.ssi_pid = static_cast<uint32_t>(sender);
  return info;
}

TEST(Signals, OfAnotherProcessAreForwarded) {
  for (const int code : {SI_USER, SI_QUEUE, SI_TKILL}) {
    EXPECT_TRUE(IsForwarded(Info(SIGTERM, code, 8), 7, false));
  }
}

TEST(Signals, OfTheTerminalAreNotSentTwice) {
  for (const int number : {SIGINT, SIGQUIT, SIGTSTP, SIGWINCH, SIGHUP}) {
    EXPECT_FALSE(IsForwarded(Info(number, SI_KERNEL, 0), 7, false));
  }
  EXPECT_FALSE(IsForwarded(Info(SIGINT, SI_KERNEL, 0), 7, true));
}

TEST(Signals, OfAHangUpComeToTheSessionsLeaderAlone) {
  EXPECT_TRUE(IsForwarded(Info(SIGHUP, SI_KERNEL, 0), 7, true));
}

TEST(Signals, OfOurOwnWritingStayOurs) {
  EXPECT_FALSE(IsForwarded(Info(SIGPIPE, SI_USER, 7), 7, false));
}

// In a child, whose mask and dispositions are its own.
TEST(Signals, EveryCatchableOneIsReadAndNoneKills) {
  int ready[2];
  int done[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(done), 0);
  const pid_t child = fork();
  if (child == 0) {
    Signals signals;
    char byte = 0;
    (void)!write(ready[1], &byte, 1);
    (void)!read(done[0], &byte, 1);
    int seen = 0;
    while (const auto number = signals.Next()) seen += *number != SIGCHLD ? 1 : 0;
    _exit(seen);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  int sent = 0;
  for (int number = 1; number <= SIGRTMAX; ++number) {
    // The synchronous ones are catchable when a process sends them.
    if (number == SIGKILL || number == SIGSTOP || number == SIGCHLD || number == SIGXFSZ ||
        (number >= 32 && number < SIGRTMIN)) {
      continue;
    }
    // A stop and a continue cancel each other while they are pending.
    if (number == SIGCONT || number == SIGTTIN || number == SIGTTOU || number == SIGTSTP) continue;
    ASSERT_EQ(kill(child, number), 0);
    ++sent;
  }
  ASSERT_EQ(write(done[1], &byte, 1), 1);
  int status;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << strsignal(WTERMSIG(status));
  EXPECT_EQ(WEXITSTATUS(status), sent);
  for (const int fd : {ready[0], ready[1], done[0], done[1]}) close(fd);
}

}  // namespace
}  // namespace memprof
