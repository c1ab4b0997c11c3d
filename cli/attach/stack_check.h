// StackCheck: looks at the stacks of a process's threads. It tells whether a thread can be made to
// call dlopen now, and whether a thread is within the tracker.
//
// Frames are found by the modules' unwinding tables (libdwfl), which are read before any thread is
// stopped. Reading a module's tables takes milliseconds, a frame then some microseconds.
//
//   a frame in …                                     the thread
//   the loader                                       may hold its locks
//   malloc and its kin, another allocator's library  may hold an arena's lock, or half a free list
//   fork, exit, pthread_create, _exit, dlopen, …     may hold a lock that dlopen takes
//   a function of libc without a name, innermost     may be any of these
//   the tracker                                      is in a hook
//   code without an unwinding table                  is in an unknown state: not safe
//
// Thread safety: none. The threads stand still; one that is killed meanwhile has no frames, or a few.
#pragma once

#include <memory>
#include <string>

#include "cli/attach/function_table.h"
#include "cli/attach/remote_thread.h"
#include "cli/attach/target_process.h"

namespace memprof {

struct ThreadPlace {
  bool complete = false;  // reaches the frames where threads begin
  bool safe = false;      // may be made to call dlopen
  bool in_loader = false;
  bool in_tracker = false;
  std::string why;  // why it isn't safe
};

class StackCheck {
 public:
  static std::unique_ptr<StackCheck> Make(const TargetProcess& target);
  ~StackCheck();

  ThreadPlace Look(const RemoteThread& thread);  // pre: it is stopped

 private:
  struct Unwinding;
  explicit StackCheck(const TargetProcess& target);

  const TargetProcess& target_;
  FunctionTable libc_;
  std::unique_ptr<Unwinding> unwinding_;
};

}  // namespace memprof
