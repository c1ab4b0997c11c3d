// ChildProgram: a program that memprof started. It gets the signals that memprof gets.
//
// Thread safety: the supervisor's thread alone.
#pragma once

#include "cli/supervisor/processes/supervised_program.h"

namespace memprof {

class ChildProgram : public SupervisedProgram {
 public:
  explicit ChildProgram(pid_t pid) : pid_(pid) {}

  pid_t pid() const override { return pid_; }
  int fd() const override { return -1; }
  // While the program is stopped, so is this process (job_control.h).
  std::optional<ProgramEnd> Look() override;
  void Reap() override;
  std::optional<int> NextSignal(Signals& signals) override { return signals.Next(); }
  void OnSignal(int number) override;
  Result<void> LetGo() override;

 private:
  const pid_t pid_;
};

}  // namespace memprof
