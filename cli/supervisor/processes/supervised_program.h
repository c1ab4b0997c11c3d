// SupervisedProgram: the program that a supervisor watches over, however memprof came to it.
//
//   ChildProgram     memprof started it (child_program.h)
//   AttachedProgram  it ran already, and memprof attached to it (attach/attached_program.h)
//
// Thread safety: the supervisor's thread alone.
#pragma once

#include <sys/types.h>

#include <optional>

#include "cli/supervisor/processes/signals.h"
#include "core/result.h"

namespace memprof {

// How it is with the program when the supervisor's work is over.
struct ProgramEnd {
  bool still_running = false;  // it was let go
  bool end_unknown = false;    // it ended, and who waited for it knows how
  bool signalled = false;
  int code = 0;           // exit status or signal number
  bool filtered = false;  // it had filters of system calls of its own
  bool is_there = false;  // it exited, and /proc still has it until Reap
};

class SupervisedProgram {
 public:
  SupervisedProgram() = default;
  virtual ~SupervisedProgram() = default;
  SupervisedProgram(const SupervisedProgram&) = delete;
  SupervisedProgram& operator=(const SupervisedProgram&) = delete;

  virtual pid_t pid() const = 0;

  // Readable when Look() is worth it. -1: a signal says so.
  virtual int fd() const = 0;
  // Nothing: it goes on. A process that has ended stays as it is until Reap.
  virtual std::optional<ProgramEnd> Look() = 0;
  virtual void Reap() = 0;

  // The next of memprof's signals that has a meaning for this kind of program; no more: nothing.
  virtual std::optional<int> NextSignal(Signals& signals) = 0;
  virtual void OnSignal(int number) = 0;

  // Asks that it goes on without a tracker; Look says when it does. Or why it can't.
  virtual Result<void> LetGo() = 0;
};

}  // namespace memprof
