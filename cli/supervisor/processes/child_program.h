// ChildProgram: a program that memprof started. Signals sent to memprof are forwarded to it.
//
// Thread safety: the supervisor's thread alone.
#pragma once

#include <chrono>
#include <optional>

#include "cli/supervisor/processes/supervised_program.h"

namespace memprof {

class ChildProgram : public SupervisedProgram {
 public:
  explicit ChildProgram(pid_t pid) : pid_(pid) {}

  pid_t pid() const override { return pid_; }
  int fd() const override { return -1; }
  // Stops this process as long as the program is stopped (job_control.h).
  std::optional<ProgramEnd> Look() override;
  void Reap() override;
  std::optional<int> NextSignal(Signals& signals) override { return signals.Next(pid_); }
  void OnSignal(int number) override;
  void WakeAt(std::chrono::steady_clock::time_point time) override { wake_ = time; }
  Result<void> LetGo() override;

 private:
  const pid_t pid_;
  std::chrono::steady_clock::time_point wake_ = std::chrono::steady_clock::time_point::max();
};

}  // namespace memprof
