// CopyTaker: stops a process, makes it copy itself, and lets it go (frozen_copy.h).
//
// Every thread is stopped and asked for its registers. The thread that makes the copy has all its
// signals blocked meanwhile, and is not within a restartable sequence, which the kernel would abort
// without telling it. A system call that was interrupted goes on.
//
// Thread safety: all calls from one thread, which is the tracer. Failure: a sentence.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <vector>

#include "cli/attach/remote_thread.h"
#include "cli/inspect/frozen_copy.h"
#include "core/result.h"

namespace memprof {

struct TakenCopy {
  pid_t pid = 0;
  std::chrono::microseconds pause{0};
  std::vector<FrozenThread> threads;
};

class CopyTaker {
 public:
  explicit CopyTaker(pid_t process) : process_(process) {}

  Result<TakenCopy> Take();
  // Stops the process itself, until Release or this object's end; the result's pid is the process's.
  Result<TakenCopy> Stop();
  void Release() { stopped_.clear(); }
  // Kills the copy and has the process wait for it. False: it didn't.
  bool End(pid_t copy);

 private:
  Result<void> FindPlaces();
  bool AreRight(const RemoteThread& thread) const;  // the places
  Result<std::vector<RemoteThread>> StopAll();

  const pid_t process_;
  CallPlaces places_;
  std::vector<RemoteThread> stopped_;
};

}  // namespace memprof
