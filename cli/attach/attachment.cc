#include "cli/attach/attachment.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>

#include "cli/basics/process_facts.h"

namespace memprof {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// The end of a process takes a while: it has to give its memory back.
constexpr milliseconds kEndLimit{2'000};

// Linux 6.15: the exit status of a process that somebody else has waited for.
struct PidfdInfo {
  uint64_t mask;
  uint64_t cgroup_id;
  uint32_t pid, tgid, ppid;
  uint32_t ruid, rgid, euid, egid, suid, sgid, fsuid, fsgid;
  int32_t exit_code;
};
constexpr uint64_t kPidfdInfoExit = 1u << 3;
constexpr unsigned long kPidfdGetInfo = _IOWR(0xFF, 11, PidfdInfo);

bool IsReadable(int fd, milliseconds patience = milliseconds(0)) {
  pollfd waiting = {fd, POLLIN, 0};
  return poll(&waiting, 1, static_cast<int>(patience.count())) > 0;
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
      poll_(epoll_create1(EPOLL_CLOEXEC)),
      pidfd_(static_cast<int>(syscall(SYS_pidfd_open, target_.pid(), 0))),
      done_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      timer_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
  for (const int fd : {pidfd_.get(), done_.get(), timer_.get()}) {
    epoll_event event = {};
    event.events = EPOLLIN;
    epoll_ctl(poll_.get(), EPOLL_CTL_ADD, fd, &event);
  }
}

Attachment::~Attachment() {
  if (work_.valid()) work_.wait();
}

template <typename Work>
void Attachment::Start(Work work) {
  work_ = worker_.Do([this, work] {
    Injector injector(target_);
    Outcome outcome;
    try {
      work(injector, outcome);
    } catch (const std::bad_alloc&) {
      outcome.error = "memprof is out of memory";
    }
    outcome.times = injector.times();
    const uint64_t one = 1;
    if (write(done_.get(), &one, sizeof one) < 0) outcome.error = "no event could be written";
    return outcome;
  });
}

void Attachment::Begin() {
  if (!worker_.works()) {
    error_ =
        "no thread can be started: the limit of processes, RLIMIT_NPROC or that of the container, "
        "is reached";
    state_ = AttachmentState::kFailed;
    const uint64_t one = 1;
    if (write(done_.get(), &one, sizeof one) < 0) error_ += "; no event could be written";
    return;
  }
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

// If the process has just ended, or executed another program, that is the reason for any failure.
AttachmentState Attachment::StateAfterFailure() {
  const auto until = steady_clock::now() + kEndLimit;
  bool ended = false;
  while (!(ended = IsReadable(pidfd_.get(), milliseconds(10))) && !target_.HasExecuted() &&
         steady_clock::now() < until) {
  }
  const std::string became = target_.WhatBecame();
  if (became.empty() && !ended) return AttachmentState::kFailed;
  if (!became.empty()) error_ = became;
  return ended || target_.HasEnded() ? AttachmentState::kEnded : AttachmentState::kExecuted;
}

void Attachment::NoteExec() {
  if (state_ == AttachmentState::kAttached) state_ = AttachmentState::kExecuted;
}

void Attachment::CollectWork() {
  uint64_t count = 0;
  if (!work_.valid() || read(done_.get(), &count, sizeof count) < 0) return;
  Outcome outcome = work_.get();
  times_.longest_stop = std::max(times_.longest_stop, outcome.times.longest_stop);
  times_.looks += outcome.times.looks;
  if (!outcome.error.empty()) {
    error_ = outcome.error;
    state_ = StateAfterFailure();
    return;
  }
  if (state_ == AttachmentState::kDetaching) {
    restored_ = outcome.restored;
    if (target_.WhatBecame().empty()) left_ = outcome.left;
    state_ = AttachmentState::kDetached;
    return;
  }
  state_ = AttachmentState::kAttached;
  if (plan_.duration.count() != 0) {
    itimerspec timer = {};
    timer.it_value = {plan_.duration.count() / 1000, plan_.duration.count() % 1000 * 1'000'000};
    timerfd_settime(timer_.get(), 0, &timer, nullptr);
  }
  if (detach_wanted_) BeginDetach();
}

void Attachment::NoteEnd() {
  if (!IsReadable(pidfd_.get()) || work_.valid()) return;
  if (state_ != AttachmentState::kAttached && state_ != AttachmentState::kEnded) return;
  state_ = AttachmentState::kEnded;
  wait_status_ = StatusOfZombie(target_.pid());
  if (!wait_status_) wait_status_ = StatusByDescriptor(pidfd_.get());
}

AttachmentState Attachment::Look() {
  CollectWork();
  uint64_t count = 0;
  if (read(timer_.get(), &count, sizeof count) > 0) BeginDetach();
  NoteEnd();
  return state_;
}

}  // namespace memprof
