// StackCheck: where the threads of a process are: whether one can be made to call dlopen now, and
// whether one is within the tracker.
//
// Frames are found by the modules' unwinding tables (libdwfl), read before anything is stopped: a
// first look at a module's costs milliseconds, a frame then some microseconds.
//
//   a frame in …                                     the thread
//   the loader                                       may hold its locks
//   malloc and its kin, another allocator's library  may hold an arena's lock, or half a free list
//   fork, exit, pthread_create, _exit, dlopen, …     may hold a lock that dlopen takes
//   a function of libc that has no name, first       may be any of these
//   the tracker                                      is in a hook
//   what has no unwinding table                      isn't known: not safe
//
// Thread safety: none. The threads stand still under this thread's ptrace.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "cli/attach/function_table.h"
#include "cli/attach/target_process.h"

namespace memprof {

struct ThreadPlace {
  bool complete = false;  // down to where threads begin
  bool safe = false;      // may be made to call dlopen
  bool in_loader = false;
  bool in_tracker = false;
  std::string why;  // it isn't safe
};

class StackCheck {
 public:
  static std::unique_ptr<StackCheck> Make(const TargetProcess& target);
  ~StackCheck();

  ThreadPlace Look(pid_t thread);

 private:
  struct Unwinding;
  explicit StackCheck(const TargetProcess& target);

  const TargetProcess& target_;
  FunctionTable libc_;
  std::unique_ptr<Unwinding> unwinding_;
};

}  // namespace memprof
