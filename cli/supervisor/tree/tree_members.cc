#include "cli/supervisor/tree/tree_members.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "cli/basics/descriptor_reserve.h"
#include "cli/basics/process_facts.h"

namespace memprof {
namespace {

constexpr size_t kDeepestTree = 64;  // levels of processes that are looked at

int OpenPidfd(pid_t pid) { return static_cast<int>(syscall(SYS_pidfd_open, pid, 0)); }

// 1: readable; 0: not; -1: not known.
int PollOnce(const ScopedFd& fd) {
  pollfd waiting = {fd.get(), POLLIN, 0};
  return poll(&waiting, 1, 0);
}

}  // namespace

bool TreeMember::HasEnded() const {
  if (pidfd) return PollOnce(pidfd) > 0;
  if (kill(pid, 0) != 0 && errno == ESRCH) return true;
  const auto now = StartTicksOf(pid);
  return now && (now != started || !LivingFolder(pid));
}

TreeMembers::TreeMembers(pid_t program, ScopedFd epoll)
    : program_(program),
      program_started_(StartTicksOf(program).value_or(0)),
      program_pidfd_(OpenPidfd(program)),
      epoll_(std::move(epoll)) {}

Result<TreeMembers> TreeMembers::Make(pid_t program) {
  ScopedFd epoll(epoll_create1(EPOLL_CLOEXEC));
  if (!epoll) return Fail(ErrorKind::kIo, fmt::format("epoll: {}", strerror(errno)));
  return TreeMembers(program, std::move(epoll));
}

TreeMember* TreeMembers::Find(pid_t pid) {
  const auto known = members_.find(pid);
  return known != members_.end() ? &known->second : nullptr;
}

TreeMember* TreeMembers::Watch(pid_t pid) {
  ScopedFd pidfd(OpenPidfd(pid));
  if (!pidfd && errno == ESRCH) return nullptr;
  pidfd = UnlessInReserve(std::move(pidfd));
  if (pidfd) {
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.fd = pid;
    epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, pidfd.get(), &event);
  }
  TreeMember& member = members_[pid];
  member.pid = pid;
  if (!pidfd) member.started = StartTicksOf(pid);
  member.pidfd = std::move(pidfd);
  member.suffix = fmt::format(".{}", pid);
  return &member;
}

void TreeMembers::Unwatch(pid_t pid) {
  const auto known = members_.find(pid);
  if (known->second.pidfd) {
    // The process that forked us may still have it open; it would then stay in the epoll set.
    epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, known->second.pidfd.get(), nullptr);
  }
  members_.erase(known);
}

void TreeMembers::TakeEnded(const std::function<void(TreeMember&)>& end) {
  epoll_event ended[64];
  for (;;) {
    const int n = epoll_wait(epoll_.get(), ended, std::size(ended), 0);
    for (int i = 0; i < n; ++i) {
      if (TreeMember* const member = Find(ended[i].data.fd)) end(*member);
    }
    if (n < static_cast<int>(std::size(ended))) break;
  }
  for (auto at = members_.begin(); at != members_.end();) {
    TreeMember& member = at->second;
    ++at;
    if (!member.pidfd && member.HasEnded()) end(member);
  }
}

// As long as this is true, no other process gets the pid.
bool TreeMembers::IsKnownToLive(pid_t pid) const {
  if (pid == program_ && program_pidfd_) return PollOnce(program_pidfd_) == 0;
  const auto known = members_.find(pid);
  return known != members_.end() && known->second.pidfd && !known->second.HasEnded();
}

// A parent's pid may be another process's by the time that its own parent is asked for. But a
// process that loses its parent gets another one for good. If all parents are the same when asked
// again, all were right in between.
bool TreeMembers::IsDescendant(pid_t pid) const {
  std::vector<pid_t> chain = {pid};
  while (!IsKnownToLive(chain.back())) {
    const auto state = StateOf(chain.back());
    if (!state || state->parent <= 1 || chain.size() >= kDeepestTree) return false;
    chain.push_back(state->parent);
    if (state->parent == getpid()) break;  // adopted by us, or the program itself
  }
  for (size_t i = 0; i + 1 < chain.size(); ++i) {
    const auto state = StateOf(chain[i]);
    if (!state || state->parent != chain[i + 1]) return false;
  }
  return chain.back() == getpid() || IsKnownToLive(chain.back());
}

}  // namespace memprof
