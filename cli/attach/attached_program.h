// AttachedProgram: a program that ran before memprof attached to it. Ctrl-C and similar signals
// detach from it; memprof passes none of its own signals on to it.
//
// Ownership: the attachment belongs to somebody else. Thread safety: the supervisor's thread alone.
#pragma once

#include <functional>
#include <utility>

#include "cli/attach/attachment.h"
#include "cli/supervisor/processes/supervised_program.h"

namespace memprof {

class AttachedProgram : public SupervisedProgram {
 public:
  // `on_attached` is called once.
  AttachedProgram(Attachment& attachment, std::function<void()> on_attached)
      : attachment_(attachment), on_attached_(std::move(on_attached)) {}

  pid_t pid() const override { return attachment_.pid(); }
  int fd() const override { return attachment_.fd(); }
  std::optional<ProgramEnd> Look() override;
  void Reap() override {}  // it is another process's child
  std::optional<int> NextSignal(Signals& signals) override { return signals.NextOfAny(); }
  void OnSignal(int number) override;
  void OnExec() override { attachment_.NoteExec(); }
  Result<void> LetGo() override;

 private:
  Attachment& attachment_;
  std::function<void()> on_attached_;
};

}  // namespace memprof
