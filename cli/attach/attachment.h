// Attachment: a process that memprof has attached to, or is about to.
//
//   Begin ─► kAttaching ─► kAttached ─► BeginDetach, or the duration is over ─► kDetaching
//                │             │                                                   │
//                └► kFailed    ├► the process ends ─► kEnded                       └► kDetached
//                              └► it executes another program ─► kExecuted
//
// The process may also end, or execute another program, while memprof attaches or detaches.
//
// A thread of its own does the tracing: a call in the process may wait for the supervisor's answer,
// so the supervisor must stay able to answer.
//
// Thread safety: one owner. Failure: kFailed and error(). error() is also set if the process ended or
// executed another program before it was attached, or before it was detached.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <future>
#include <optional>
#include <string>

#include "cli/attach/injector.h"
#include "cli/attach/target_process.h"
#include "cli/basics/background_worker.h"
#include "core/scoped_fd.h"

namespace memprof {

enum class AttachmentState {
  kAttaching,
  kAttached,
  kDetaching,
  kDetached,
  kEnded,
  kExecuted,
  kFailed
};

struct AttachmentPlan {
  std::string library;
  std::string socket;
  std::chrono::milliseconds duration{0};  // 0: until BeginDetach
};

class Attachment {
 public:
  Attachment(TargetProcess target, AttachmentPlan plan);
  ~Attachment();
  Attachment(const Attachment&) = delete;

  pid_t pid() const { return target_.pid(); }
  // Becomes readable when Look() has something to report.
  int fd() const { return poll_.get(); }

  void Begin();
  // Call it once. Before the process is attached, it takes effect as soon as it is.
  void BeginDetach();
  // Somebody has seen that the process executed another program.
  void NoteExec();
  // Returns the current state.
  AttachmentState Look();

  const std::string& error() const { return error_; }
  // In kDetached: what stays in the process and why; empty if nothing does.
  const std::string& left() const { return left_; }
  uint64_t restored() const { return restored_; }
  const InjectionTimes& times() const { return times_; }
  // In kEnded, if the system tells: the status as wait() gives it.
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
  AttachmentState StateAfterFailure();
  void NoteEnd();

  TargetProcess target_;
  AttachmentPlan plan_;
  AttachmentState state_ = AttachmentState::kAttaching;
  bool detach_wanted_ = false;
  // Begun before the attach, because the process may have used up the threads when it is over.
  BackgroundWorker worker_;
  std::future<Outcome> work_;
  ScopedFd poll_;   // of the three below
  ScopedFd pidfd_;  // readable when the process ends
  ScopedFd done_;   // an eventfd: the work is done
  ScopedFd timer_;  // the duration is over
  std::string error_;
  std::string left_;
  uint64_t restored_ = 0;
  InjectionTimes times_;
  std::optional<int> wait_status_;
};

}  // namespace memprof
