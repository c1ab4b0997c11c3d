// Attachment: a process that memprof has attached to, or is about to.
//
//   Begin ─► kAttaching ─► kAttached ─► BeginDetach, or the duration is over ─► kDetaching
//                │             │                                                   │
//                └► kFailed    └► the process ends ─► kEnded                       └► kDetached
//
// The tracing is a thread's of its own: while a call in the process waits for the supervisor's
// answer, the supervisor must answer.
//
// Thread safety: one owner. Failure: kFailed and error().
#pragma once

#include <sys/types.h>

#include <chrono>
#include <future>
#include <optional>
#include <string>

#include "cli/attach/injector.h"
#include "cli/attach/target_process.h"

namespace memprof {

enum class AttachmentState { kAttaching, kAttached, kDetaching, kDetached, kEnded, kFailed };

struct AttachmentPlan {
  std::string library;
  std::string socket;
  std::chrono::milliseconds duration{0};  // 0: until it is told to
};

class Attachment {
 public:
  Attachment(TargetProcess target, AttachmentPlan plan);
  ~Attachment();
  Attachment(const Attachment&) = delete;

  pid_t pid() const { return target_.pid(); }
  // Readable when Look() is worth it.
  int fd() const { return poll_fd_; }

  void Begin();
  // Once; before it is attached, as soon as it is.
  void BeginDetach();
  // What has become of it by now.
  AttachmentState Look();

  const std::string& error() const { return error_; }
  // In kDetached: what stays in the process and why; empty: as intended.
  const std::string& left() const { return left_; }
  uint64_t restored() const { return restored_; }
  const InjectionTimes& times() const { return times_; }
  // In kEnded, where the system tells: as wait() has it.
  std::optional<int> wait_status() const { return wait_status_; }

 private:
  struct Outcome {
    std::string error;
    std::string left;
    uint64_t restored = 0;
    InjectionTimes times;
  };
  template <typename Work>
  void Start(Work work);
  void CollectWork();
  void NoteEnd();

  TargetProcess target_;
  AttachmentPlan plan_;
  AttachmentState state_ = AttachmentState::kAttaching;
  bool detach_wanted_ = false;
  std::future<Outcome> work_;
  int poll_fd_ = -1;   // of the three below
  int pid_fd_ = -1;    // readable when the process ends
  int done_fd_ = -1;   // an eventfd: the work is done
  int timer_fd_ = -1;  // the duration is over
  std::string error_;
  std::string left_;
  uint64_t restored_ = 0;
  InjectionTimes times_;
  std::optional<int> wait_status_;
};

}  // namespace memprof
