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

#include "cli/basics/output_name.h"
#include "cli/supervisor/conclusion.h"
#include "core/units.h"

namespace memprof {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr size_t kNamesShown = 4;
constexpr milliseconds kTrackersCome{200};  // from an exec, unless the machine has much else to do
constexpr int kVisitsALook = 64;            // as the supervisor's

std::string Children(uint64_t count) {
  return count == 1 ? "1 child process" : FormatCount(count) + " child processes";
}

bool Ends(int signal) {
  return signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT;
}

// Does what there is to do by then.
void AwaitEvent(ProcessTree& tree, Signals& signals, TrackerSocket& socket,
                steady_clock::time_point until) {
  pollfd waiting[] = {{signals.fd(), POLLIN, 0}, {socket.fd(), POLLIN, 0}, {tree.fd(), POLLIN, 0}};
  const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now());
  poll(waiting, std::size(waiting), static_cast<int>(std::max<long>(left.count(), 0)));
  for (int visits = 0; visits < kVisitsALook; ++visits) {
    const auto visitor = socket.Accept([&tree](pid_t pid) { return tree.IsDescendant(pid); });
    if (!visitor) break;
    tree.OnVisitor(socket, *visitor);
  }
  while (const auto signal = signals.Next()) {
    if (Ends(*signal)) tree.StopWatching();
  }
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

bool AwaitTrackers(ProcessTree& tree, Signals& signals, TrackerSocket& socket) {
  const auto until = steady_clock::now() + kTrackersCome;
  if (tree.AnyLiving()) tree.LookForUnclaimed();  // else it has just looked
  while (tree.HasComing() && steady_clock::now() < until) {
    AwaitEvent(tree, signals, socket, std::min(tree.NextLook(), until));
    tree.Look();
  }
  return tree.HasLiving();
}

void StayWithTree(ProcessTree& tree, Signals& signals, TrackerSocket& socket, bool all) {
  do {
    while (tree.AnyLiving() || (all && tree.HasComing())) {
      AwaitEvent(tree, signals, socket, tree.NextLook());
    }
  } while (AwaitTrackers(tree, signals, socket));
}

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
    if (tree.images > tree.files.size()) {
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
    lines.push_back(fmt::format(
        "{} of them still run: their captures, and the merge {}, are written when they end",
        FormatCount(tree.living), InsertBeforeExtension(output, ".all")));
  }
  if (tree.refused != 0) {
    lines.push_back(
        fmt::format("{} could not be followed: there were too many at once, or no "
                    "memory could be mapped",
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
                    "filter of system calls, or where memprof can't be reached): {}",
                    Children(count), names));
  }
  return lines;
}

}  // namespace memprof
