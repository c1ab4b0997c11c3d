// SupervisedProgram: the program that a supervisor watches.
//
//   ChildProgram     memprof started it (child_program.h)
//   AttachedProgram  it was running, and memprof attached to it (attach/attached_program.h)
//
// Thread safety: the supervisor's thread alone.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>

#include "cli/supervisor/processes/signals.h"
#include "core/result.h"

namespace memprof {

// The program's state when the supervisor's work is over.
struct ProgramEnd {
  bool still_running = false;  // memprof detached from it
  bool executed = false;       // it runs another program, and memprof doesn't wait for its end
  bool end_unknown = false;    // it ended, and only its parent knows its status
  bool signalled = false;
  int code = 0;           // exit status or signal number
  bool filtered = false;  // it had seccomp filters of its own
  bool is_there = false;  // it exited, and is in /proc until Reap
};

class SupervisedProgram {
 public:
  SupervisedProgram() = default;
  virtual ~SupervisedProgram() = default;
  SupervisedProgram(const SupervisedProgram&) = delete;
  SupervisedProgram& operator=(const SupervisedProgram&) = delete;

  virtual pid_t pid() const = 0;

  // Readable when Look() has something to report; -1: a signal tells.
  virtual int fd() const = 0;
  // Unset: it goes on. A process that has ended stays as it is until Reap.
  virtual std::optional<ProgramEnd> Look() = 0;
  virtual void Reap() = 0;

  // The next of memprof's signals that matters to this kind of program; unset: no more.
  virtual std::optional<int> NextSignal(Signals& signals) = 0;
  virtual void OnSignal(int number) = 0;
  // Look doesn't stop this process beyond that time, though the program is stopped.
  virtual void WakeAt(std::chrono::steady_clock::time_point) {}
  // It was seen to run another program, from which no tracker came.
  virtual void OnExec() {}

  // Begins to detach from the program; Look says when it is done. The error says why it can't.
  virtual Result<void> LetGo() = 0;
};

}  // namespace memprof
