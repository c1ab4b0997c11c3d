#include "cli/attach/attached_program.h"

#include <sys/wait.h>

#include <csignal>

namespace memprof {

std::optional<ProgramEnd> AttachedProgram::Look() {
  ProgramEnd end;
  switch (attachment_.Look()) {
    case AttachmentState::kAttaching:
    case AttachmentState::kDetaching:
      return std::nullopt;
    case AttachmentState::kAttached:
      if (on_attached_) std::exchange(on_attached_, nullptr)();
      return std::nullopt;
    case AttachmentState::kDetached:
    // attached, and can't be detached: it goes on counting, but nobody reads it
    case AttachmentState::kFailed:
      end.still_running = true;
      break;
    case AttachmentState::kExecuted:
      end.still_running = true;
      end.executed = true;
      break;
    case AttachmentState::kEnded: {
      const auto status = attachment_.wait_status();
      end.end_unknown = !status;
      if (!status) break;
      end.signalled = WIFSIGNALED(*status);
      end.code = end.signalled ? WTERMSIG(*status) : WEXITSTATUS(*status);
      break;
    }
  }
  return end;
}

void AttachedProgram::OnSignal(int number) {
  if (number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT) {
    attachment_.BeginDetach();
  }
}

Result<void> AttachedProgram::LetGo() {
  attachment_.BeginDetach();
  return {};
}

}  // namespace memprof
