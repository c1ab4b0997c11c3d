#include "cli/supervisor/tree_finish.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "cli/basics/output_name.h"
#include "cli/supervisor/conclusion.h"
#include "cli/supervisor/supervisor.h"
#include "core/units.h"

namespace memprof {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr size_t kNamesShown = 4;
// time from an exec to its tracker, on a machine that isn't overloaded
constexpr milliseconds kTrackersCome{200};
constexpr int kKillTries = 50;
constexpr int kVisitsAtTheEnd = 64;  // as in the supervisor

std::string Children(uint64_t count) {
  return count == 1 ? "1 child process" : FormatCount(count) + " child processes";
}

bool Ends(int signal) {
  return signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT;
}

// Handles the events until that time.
void AwaitEvent(ProcessTree& tree, Signals& signals, TrackerSocket& socket,
                steady_clock::time_point until) {
  pollfd waiting[] = {{signals.fd(), POLLIN, 0}, {socket.fd(), POLLIN, 0}, {tree.fd(), POLLIN, 0}};
  const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now());
  poll(waiting, std::size(waiting), static_cast<int>(std::max<long>(left.count(), 0)));
  for (int visits = 0; visits < kVisitsAtTheEnd; ++visits) {
    const auto visitor = socket.Accept([&tree](pid_t pid) { return tree.IsDescendant(pid); });
    if (!visitor) break;
    tree.OnVisitor(socket, *visitor);
  }
  while (const auto signal = signals.Next()) {
    if (Ends(*signal)) tree.StopWatching();
  }
}

// Gives trackers of descendants that are executing a program a short grace to come; returns whether a
// profiled descendant lives then.
bool AwaitTrackers(ProcessTree& tree, Signals& signals, TrackerSocket& socket) {
  const auto until = steady_clock::now() + kTrackersCome;
  if (tree.AnyLiving()) tree.LookForUnclaimed();  // otherwise it has just looked
  while (tree.HasComing() && steady_clock::now() < until) {
    AwaitEvent(tree, signals, socket, std::min(tree.NextLook(), until));
    tree.Look();
  }
  return tree.HasLiving();
}

// Stays until no profiled descendant lives, or a signal asks to end. A process that is executing a
// program just now gets that grace. `all`: stays also while an untracked descendant lives from
// which a tracker may come.
void StayWithTree(ProcessTree& tree, Signals& signals, TrackerSocket& socket, bool all) {
  do {
    while (tree.AnyLiving() || (all && tree.HasComing())) {
      AwaitEvent(tree, signals, socket, tree.NextLook());
    }
  } while (AwaitTrackers(tree, signals, socket));
}

void KillTree(ProcessTree& tree, Signals& signals, TrackerSocket& socket) {
  // A child that was forked meanwhile has had no signal.
  for (int tries = 0; tries < kKillTries && tree.AnyLiving(); ++tries) {
    tree.SignalAll(SIGKILL);
    AwaitEvent(tree, signals, socket, tree.NextLook());
  }
}

// Kills what a timeout's SIGTERM hasn't ended in time.
void EndTree(ProcessTree& tree, Signals& signals, TrackerSocket& socket) {
  const auto until = steady_clock::now() + kKillAfterTimeout;
  while (tree.AnyLiving() && steady_clock::now() < until) {
    AwaitEvent(tree, signals, socket, std::min(tree.NextLook(), until));
  }
  KillTree(tree, signals, socket);
}

enum class Supervising {
  kInBackground,  // this is the new process: it has to stay with the tree, and to end
  kElsewhere,     // the new process does that: here the tree only has to be concluded
  kEnded,         // no process could be forked: nobody stays with the tree
};
// Pre: the tree is settled. The background process closes `callers` and owns the directory.
Supervising GoOnInBackground(ProcessTree& tree, PrivateDirectory& directory,
                             const std::vector<int>& callers) {
  tree.Settle();
  if (!tree.HasLiving()) return Supervising::kEnded;
  const pid_t pid = fork();
  if (pid < 0) {
    tree.StopWatching();
    return Supervising::kEnded;
  }
  if (pid > 0) {
    directory.Disown();
    return Supervising::kElsewhere;
  }
  setsid();
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int fd : callers) {
    if (fd > STDERR_FILENO) close(fd);
  }
  for (int fd = 0; fd <= STDERR_FILENO; ++fd) {
    if (nothing >= 0) {
      dup2(nothing, fd);
    } else {
      close(fd);
    }
  }
  return Supervising::kInBackground;
}

}  // namespace

std::vector<int> OpenDescriptors() {
  std::vector<int> open;
  DIR* directory = opendir("/proc/self/fd");
  if (directory == nullptr) return open;
  while (const dirent* entry = readdir(directory)) {
    const int fd = static_cast<int>(std::strtol(entry->d_name, nullptr, 10));
    if (entry->d_name[0] != '.' && fd != dirfd(directory)) open.push_back(fd);
  }
  closedir(directory);
  return open;
}

void RaiseOwnDescriptorLimit() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

void AdoptDescendants() { prctl(PR_SET_CHILD_SUBREAPER, 1); }

TreeOutcome FinishTree(const TreeEnd& end, ProcessTree& tree, Signals& signals,
                       TrackerSocket& socket, PrivateDirectory& directory) {
  if (end.timed_out) EndTree(tree, signals, socket);
  if (end.wait) StayWithTree(tree, signals, socket, true);
  // The first process of a pid namespace: the kernel kills all others when it ends, as it would at the
  // program's own end.
  if (!end.wait && getpid() == 1) KillTree(tree, signals, socket);
  const auto where = !end.wait && AwaitTrackers(tree, signals, socket)
                         ? GoOnInBackground(tree, directory, end.callers)
                         : Supervising::kEnded;
  // From here on only the other process reads what the tree leaves.
  if (where == Supervising::kElsewhere) return tree.Conclude(end.program, end.program_images);
  if (where == Supervising::kInBackground) {
    StayWithTree(tree, signals, socket, false);
    tree.Settle();
    const TreeOutcome late = tree.Conclude(end.program, end.program_images);
    if (end.at_late_end) end.at_late_end(late);
    { const PrivateDirectory remove = std::move(directory); }
    _exit(0);
  }
  tree.Settle();
  return tree.Conclude(end.program, end.program_images);
}

std::vector<std::string> TreeLines(const TreeOutcome& tree, const std::string& output) {
  std::vector<std::string> lines;
  if (tree.processes != 0) {
    std::string line = fmt::format("{} profiled", Children(tree.processes));
    for (size_t i = 0; i < tree.files.size() && i < kNamesShown; ++i) {
      line += (i == 0 ? ": " : ", ") + tree.files[i];
    }
    if (tree.files.size() > kNamesShown) {
      line += fmt::format(" and {} more", tree.files.size() - kNamesShown);
    }
    if (!tree.files.empty() && tree.images > tree.files.size()) {
      line += fmt::format("; {} lighter ones have no capture of their own",
                          FormatCount(tree.images - tree.files.size()));
    }
    lines.push_back(line);
  }
  if (!tree.merge.empty()) {
    lines.push_back(fmt::format("all together: {}; see: memprof summary {}", tree.merge,
                                ShellWord(tree.merge)));
  } else if (!tree.merge_error.empty()) {
    lines.push_back("there is no merge of all processes: " + tree.merge_error);
  } else if (tree.living != 0) {
    lines.push_back(fmt::format("{} of them still {}: the merge {} is written when {}",
                                FormatCount(tree.living), tree.living == 1 ? "runs" : "run",
                                InsertBeforeExtension(output, ".all"),
                                tree.living == 1 ? "it ends" : "they end"));
  }
  if (tree.refused != 0) {
    lines.push_back(
        fmt::format("{} could not be followed, nor what they started: there were too many at "
                    "once, or no memory could be mapped",
                    Children(tree.refused)));
  }
  if (!tree.untracked.empty()) {
    std::string names;
    uint64_t count = 0;
    for (const auto& [name, times] : tree.untracked) {
      names += (names.empty() ? "" : ", ") + name;
      count += static_cast<uint64_t>(times);
    }
    lines.push_back(
        fmt::format("{} ran without a tracker (static, with a cleaned environment, behind a "
                    "filter of system calls, or where memprof can't be reached in a second): {}",
                    Children(count), names));
  }
  return lines;
}

}  // namespace memprof
