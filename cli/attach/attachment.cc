#include "cli/attach/attachment.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cli/basics/process_facts.h"

namespace memprof {
namespace {

// Linux 6.15: what became of a process that somebody else has waited for.
struct PidfdInfo {
  uint64_t mask;
  uint64_t cgroup_id;
  uint32_t pid, tgid, ppid;
  uint32_t ruid, rgid, euid, egid, suid, sgid, fsuid, fsgid;
  int32_t exit_code;
};
constexpr uint64_t kPidfdInfoExit = 1u << 3;
constexpr unsigned long kPidfdGetInfo = _IOWR(0xFF, 11, PidfdInfo);

bool IsReadable(int fd) {
  pollfd waiting = {fd, POLLIN, 0};
  return poll(&waiting, 1, 0) > 0;
}

std::optional<int> StatusByDescriptor(int pid_fd) {
  PidfdInfo info = {};
  info.mask = kPidfdInfoExit;
  if (ioctl(pid_fd, kPidfdGetInfo, &info) != 0 || (info.mask & kPidfdInfoExit) == 0) {
    return std::nullopt;
  }
  return info.exit_code;
}

}  // namespace

Attachment::Attachment(TargetProcess target, AttachmentPlan plan)
    : target_(std::move(target)),
      plan_(std::move(plan)),
      poll_fd_(epoll_create1(EPOLL_CLOEXEC)),
      pid_fd_(static_cast<int>(syscall(SYS_pidfd_open, target_.pid(), 0))),
      done_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      timer_fd_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
  for (const int fd : {pid_fd_, done_fd_, timer_fd_}) {
    epoll_event event = {};
    event.events = EPOLLIN;
    epoll_ctl(poll_fd_, EPOLL_CTL_ADD, fd, &event);
  }
}

Attachment::~Attachment() {
  if (work_.valid()) work_.wait();
  for (const int fd : {timer_fd_, done_fd_, pid_fd_, poll_fd_}) {
    if (fd >= 0) close(fd);
  }
}

template <typename Work>
void Attachment::Start(Work work) {
  work_ = std::async(std::launch::async, [this, work] {
    Injector injector(target_);
    Outcome outcome;
    work(injector, outcome);
    outcome.times = injector.times();
    const uint64_t one = 1;
    if (write(done_fd_, &one, sizeof one) < 0) outcome.error = "no event could be written";
    return outcome;
  });
}

void Attachment::Begin() {
  Start([this](Injector& injector, Outcome& outcome) {
    const auto attached = injector.Attach(plan_.library, plan_.socket);
    if (!attached) outcome.error = attached.error().message;
  });
}

void Attachment::BeginDetach() {
  detach_wanted_ = true;
  if (state_ != AttachmentState::kAttached) return;
  state_ = AttachmentState::kDetaching;
  Start([](Injector& injector, Outcome& outcome) {
    const auto restored = injector.Detach();
    if (!restored) {
      outcome.error = restored.error().message;
      return;
    }
    outcome.restored = *restored;
    if (const auto forgotten = injector.Forget(); !forgotten) {
      outcome.left = forgotten.error().message;
    }
  });
}

void Attachment::CollectWork() {
  uint64_t count = 0;
  if (!work_.valid() || read(done_fd_, &count, sizeof count) < 0) return;
  Outcome outcome = work_.get();
  times_.longest_stop = std::max(times_.longest_stop, outcome.times.longest_stop);
  times_.looks += outcome.times.looks;
  if (!outcome.error.empty()) {
    error_ = outcome.error;
    // It may just have ended: then that is what there is to say.
    state_ = state_ == AttachmentState::kDetaching && IsReadable(pid_fd_)
                 ? AttachmentState::kEnded
                 : AttachmentState::kFailed;
    return;
  }
  if (state_ == AttachmentState::kDetaching) {
    restored_ = outcome.restored;
    left_ = outcome.left;
    state_ = AttachmentState::kDetached;
    return;
  }
  state_ = AttachmentState::kAttached;
  if (plan_.duration.count() != 0) {
    itimerspec timer = {};
    timer.it_value = {plan_.duration.count() / 1000, plan_.duration.count() % 1000 * 1'000'000};
    timerfd_settime(timer_fd_, 0, &timer, nullptr);
  }
  if (detach_wanted_) BeginDetach();
}

void Attachment::NoteEnd() {
  if (!IsReadable(pid_fd_) || work_.valid()) return;
  if (state_ != AttachmentState::kAttached && state_ != AttachmentState::kEnded) return;
  state_ = AttachmentState::kEnded;
  wait_status_ = StatusOfZombie(target_.pid());
  if (!wait_status_) wait_status_ = StatusByDescriptor(pid_fd_);
}

AttachmentState Attachment::Look() {
  CollectWork();
  uint64_t count = 0;
  if (read(timer_fd_, &count, sizeof count) > 0) BeginDetach();
  NoteEnd();
  return state_;
}

}  // namespace memprof
