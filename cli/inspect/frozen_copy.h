// FrozenCopy: a copy of a running process that stands still, as long as this object lives. The process
// itself stops for some milliseconds and goes on.
//
//   this process            a child of it (CopyTaker)          the process
//   Take                ──► stops all threads, makes one       stops
//                           of them call clone(),
//                       ◄── lets all go: pid, registers        goes on
//   reads /proc/COPY/mem …                                     the copy stands still, and never runs
//   destructor, or killed   sees the pipe's end: kills the
//                           copy, stops one thread once more   the copy is waited for: no zombie
//
// So whatever ends this process, nothing stays behind. Where no copy can be made the process itself can
// stand still instead, until this object is gone; the rest is the same. The copy has none of the process's descriptors; its
// end sends no signal, and the process's waitpid() doesn't see it.
//
// Thread safety: one owner. Take forks: no other thread may run.
// Failure: a sentence; the process is as it was before.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"
#include "core/scoped_fd.h"

namespace memprof {

struct FrozenThread {
  pid_t id = 0;
  std::string name;
  uint64_t stack_pointer = 0;
  uint64_t thread_pointer = 0;
  std::vector<uint64_t> registers;  // all, the vector registers word by word
};

enum class FrozenBy { kCopying, kStopping };

class FrozenCopy {
 public:
  static Result<FrozenCopy> Take(pid_t process, FrozenBy how);

  FrozenCopy(FrozenCopy&& other) noexcept = default;
  FrozenCopy& operator=(FrozenCopy&&) = delete;
  ~FrozenCopy() { End(); }

  // Lets the copy go. False: it could not be waited for in the process, and stays there as a zombie
  // until that ends or waits for all its children.
  bool End();

  // Of the copy, or of the process that stands.
  pid_t pid() const { return copy_; }
  const std::vector<FrozenThread>& threads() const { return threads_; }
  // How long the process stood, from the first thread's stop to the last one's start. If it is stopped
  // itself: after End.
  std::chrono::microseconds pause() const { return pause_; }

 private:
  FrozenCopy() = default;

  FrozenBy how_ = FrozenBy::kCopying;
  std::chrono::steady_clock::time_point since_;
  pid_t taker_ = 0;
  ScopedFd pipe_;  // closing it ends the copy
  pid_t copy_ = 0;
  std::chrono::microseconds pause_{0};
  std::vector<FrozenThread> threads_;
};

}  // namespace memprof
