// Interprets foreign texts for `memprof snapshot` and `memprof detach`: a process's environment and
// memory, and a supervisor's reply. Nothing in them is trusted. The results are paths that still
// have to be checked (AskSupervisor does), or single printable lines.
//
// Thread safety: pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/supervisor/channels/control_socket.h"
#include "core/protocol/attach_protocol.h"

namespace memprof {

// The directory of the socket that is named in an environment (words, each with a 0 behind it).
std::optional<std::string> DirectoryInEnvironment(std::string_view environment);
// … that the library in an attached process was given, by its own account.
std::optional<std::string> DirectoryOf(const AttachState& state);

// The size of each thread's part of that library in bytes; unset if it can't be right.
std::optional<size_t> ThreadBytesOf(const AttachState& state);

// Pre: kTaken.
std::string TextOfNamedMoment(const ControlReply& reply);
// The capture of a detached process, quoted for a shell.
std::string CaptureOfDetached(const ControlReply& reply);

}  // namespace memprof
