#include "cli/supervisor/processes/child.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "tests/cli/temporary_directory.h"

namespace memprof {
namespace {

ChildPlan Plan(const std::string& path, std::vector<std::string> argv) {
  ChildPlan plan = {path, std::move(argv), {"PATH=/usr/bin:/bin"}, {}};
  sigprocmask(SIG_SETMASK, nullptr, &plan.signals.mask);
  sigaction(SIGCHLD, nullptr, &plan.signals.child_action);
  sigaction(SIGXFSZ, nullptr, &plan.signals.file_size_action);
  return plan;
}

int StatusOf(const Child& child) {
  int status = 0;
  EXPECT_EQ(waitpid(child.pid(), &status, 0), child.pid());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(Child, RunsNothingBeforeItIsStarted) {
  const TemporaryDirectory files;
  {
    const auto child = Child::Fork(Plan("/bin/sh", {"sh", "-c", "echo > " + files / "trace"}));
    ASSERT_TRUE(child);
  }  // it has ended here, and is reaped
  EXPECT_FALSE(std::filesystem::exists(files / "trace"));
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
}

TEST(Child, HasThePidThatTheProgramHas) {
  const TemporaryDirectory files;
  auto child = Child::Fork(Plan("/bin/sh", {"sh", "-c", "echo $$ > " + files / "pid"}));
  ASSERT_TRUE(child);
  EXPECT_EQ(child->Start(), 0);
  EXPECT_EQ(StatusOf(*child), 0);
  pid_t pid = 0;
  std::ifstream(files / "pid") >> pid;
  EXPECT_EQ(pid, child->pid());
}

TEST(Child, TellsWhyItCannotBeExecuted) {
  const TemporaryDirectory files;
  auto missing = Child::Fork(Plan(files / "missing", {"missing"}));
  EXPECT_EQ(missing->Start(), ENOENT);
  StatusOf(*missing);
  auto plain = Child::Fork(Plan(files.Write("plain", "", 0644), {"plain"}));
  EXPECT_EQ(plain->Start(), EACCES);
  StatusOf(*plain);
}

TEST(Child, HandsATextWithoutAnInterpreterToTheShell) {
  const TemporaryDirectory files;
  const std::string script = files.Write("script", "exit $1\n", 0755);
  auto child = Child::Fork(Plan(script, {"script", "6"}));
  EXPECT_EQ(child->Start(), 0);
  EXPECT_EQ(StatusOf(*child), 6);
}

TEST(Child, InheritsSignalsAsTheyWereBeforeUs) {
  const TemporaryDirectory files;
  ChildPlan plan = Plan("/bin/cp", {"cp", "/proc/self/status", files / "s"});
  sigset_t usr1;
  sigemptyset(&usr1);
  sigaddset(&usr1, SIGUSR1);
  plan.signals.mask = usr1;
  plan.signals.child_action.sa_handler = SIG_IGN;
  auto child = Child::Fork(plan);
  EXPECT_EQ(child->Start(), 0);
  EXPECT_EQ(StatusOf(*child), 0);
  uint64_t blocked = 0;
  uint64_t ignored = 0;
  std::ifstream file(files / "s");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("SigBlk:")) blocked = std::stoull(line.substr(7), nullptr, 16);
    if (line.starts_with("SigIgn:")) ignored = std::stoull(line.substr(7), nullptr, 16);
  }
  EXPECT_EQ(blocked, 1ull << (SIGUSR1 - 1));
  EXPECT_EQ(ignored & (1ull << (SIGCHLD - 1)), 1ull << (SIGCHLD - 1));
}

TEST(Child, LeavesNoDescriptorOpen) {
  const TemporaryDirectory files;
  auto open_descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  const auto before = open_descriptors();
  {
    auto child = Child::Fork(Plan("/bin/sh", {"sh", "-c", "ls /proc/self/fd > " + files / "fds"}));
    child->Start();
    StatusOf(*child);
    { const auto unstarted = Child::Fork(Plan("/bin/true", {"true"})); }
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST(Environment, HasThePreloadFirstAndKeepsTheOthers) {
  setenv("LD_PRELOAD", "/x/libjemalloc.so.2", 1);
  setenv("MEMPROF_SOCKET", "/another", 1);
  const auto environment = EnvironmentWith("/lib/ours.so", "/socket");
  unsetenv("LD_PRELOAD");
  unsetenv("MEMPROF_SOCKET");
  const auto has = [&](const std::string& entry) {
    return std::count(environment.begin(), environment.end(), entry);
  };
  EXPECT_EQ(has("LD_PRELOAD=/lib/ours.so:/x/libjemalloc.so.2"), 1);
  EXPECT_EQ(has("MEMPROF_SOCKET=/socket"), 1);
  EXPECT_EQ(has("MEMPROF_SOCKET=/another"), 0);
  EXPECT_EQ(has(std::string("PATH=") + std::getenv("PATH")), 1);
}

}  // namespace
}  // namespace memprof
