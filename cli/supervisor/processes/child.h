// Child: the profiled program as a process of ours. It is forked first and executed in Start, so
// that its pid is known before any of its code runs.
//
// Thread safety: none; the process has one thread when it forks.
//
// The child inherits what we inherited: descriptors, terminal, working directory, signal mask and
// dispositions. Only LD_PRELOAD and MEMPROF_SOCKET are set.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "cli/supervisor/processes/signals.h"
#include "core/result.h"
#include "core/scoped_fd.h"

namespace memprof {

struct ChildPlan {
  std::string path;                      // the file that is executed
  std::vector<std::string> argv;         // argv[0] as the user wrote it
  std::vector<std::string> environment;  // "NAME=value"
  InheritedSignals signals;
  bool traced = false;  // we and our children may trace it, also where Yama restricts that
};

class Child {
 public:
  static Result<Child> Fork(const ChildPlan& plan);

  Child(Child&& other) = default;
  Child& operator=(Child&&) = delete;
  ~Child();  // a child that was not started ends without a trace

  pid_t pid() const { return pid_; }

  // Lets it execute. Returns 0, or the errno of a failed exec.
  int Start();

 private:
  Child(pid_t pid, ScopedFd go, ScopedFd failure)
      : pid_(pid), go_(std::move(go)), failure_(std::move(failure)) {}

  pid_t pid_;
  ScopedFd go_;       // closing it without a byte ends the child
  ScopedFd failure_;  // receives the child's errno if exec fails
};

// Our environment plus the tracker's variables: `preload` first in LD_PRELOAD, existing entries
// after it.
std::vector<std::string> EnvironmentWith(const std::string& preload, const std::string& socket);

}  // namespace memprof
