// Child: the profiled program as a process of ours. It is forked first and executed after Start, so
// that its pid is known before anything of it runs.
//
// Thread safety: none; the process has one thread when it forks.
// What it gets is what we got: descriptors, terminal, working directory, signal mask and
// dispositions; only LD_PRELOAD and MEMPROF_SOCKET are set.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "cli/supervisor/processes/signals.h"
#include "core/result.h"

namespace memprof {

struct ChildPlan {
  std::string path;                      // what is executed
  std::vector<std::string> argv;         // argv[0] as the user wrote it
  std::vector<std::string> environment;  // "NAME=value"
  InheritedSignals signals;
};

class Child {
 public:
  static Result<Child> Fork(const ChildPlan& plan);

  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  ~Child();  // a child that was not started ends without a trace

  pid_t pid() const { return pid_; }

  // Lets it execute. The errno of a failed exec, or 0.
  int Start();

 private:
  Child(pid_t pid, int go, int failure) : pid_(pid), go_(go), failure_(failure) {}

  pid_t pid_;
  int go_;       // closing it without a byte ends the child
  int failure_;  // the child's errno comes here if exec fails
};

// Our environment with the tracker's in it: `preload` first in LD_PRELOAD, others' after it.
std::vector<std::string> EnvironmentWith(const std::string& preload, const std::string& socket);

}  // namespace memprof
