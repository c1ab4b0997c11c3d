// What the supervisor does of an attachment instead of a child.

#include <sys/wait.h>

#include <csignal>

#include "cli/attach/attachment.h"
#include "cli/run/output_name.h"
#include "cli/run/supervisor.h"

namespace memprof {
namespace {

ControlReply Reply(ControlStatus status, const std::string& text) {
  ControlReply reply;
  reply.status = status;
  SetText(reply.text, text);
  return reply;
}

}  // namespace

// Ctrl-C and its kin let the process go; none of them is the process's business.
void Supervisor::OnSignalsAttached() {
  while (const auto number = signals_.NextOfAny()) {
    if (snapshots_.IsOurs(*number)) {
      snapshots_.OnSignal(image_.get());
    } else if (*number == SIGINT || *number == SIGTERM || *number == SIGHUP || *number == SIGQUIT) {
      options_.attachment->BeginDetach();
    }
  }
}

void Supervisor::OnAttachment() {
  switch (options_.attachment->Look()) {
    case AttachmentState::kAttaching:
    case AttachmentState::kDetaching:
      break;
    case AttachmentState::kAttached:
      if (!attached_said_ && options_.on_attached) options_.on_attached();
      attached_said_ = true;
      break;
    case AttachmentState::kDetached:
    case AttachmentState::kFailed:  // attached, and not to be detached: it counts on, for nobody
      outcome_.still_running = ended_ = true;
      break;
    case AttachmentState::kEnded: {
      ended_ = true;
      const auto status = options_.attachment->wait_status();
      outcome_.end_unknown = !status;
      if (!status) break;
      outcome_.signalled = WIFSIGNALED(*status);
      outcome_.code = outcome_.signalled ? WTERMSIG(*status) : WEXITSTATUS(*status);
      break;
    }
  }
}

void Supervisor::OnDetachRequest(int fd) {
  if (options_.attachment == nullptr) {
    ControlSocket::Answer(
        fd, Reply(ControlStatus::kFailed,
                  "memprof run has started this program; its tracker stays as long as it runs"));
    return;
  }
  detach_askers_.push_back(fd);
  options_.attachment->BeginDetach();
}

void Supervisor::AnswerDetachRequests() {
  for (const int fd : detach_askers_) {
    const bool written = outcome_.written.has_value();
    ControlSocket::Answer(fd, written ? Reply(ControlStatus::kTaken, CanonicalName(options_.output))
                                      : Reply(ControlStatus::kFailed, outcome_.write_error));
  }
  detach_askers_.clear();
}

}  // namespace memprof
