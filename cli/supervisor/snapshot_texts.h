// What `memprof snapshot` and `memprof detach` make of what others wrote: a process's environment
// and memory, a supervisor's reply. Nothing of it is trusted: what comes out is a path to be
// checked (AskSupervisor does), or one printable line.
//
// Thread safety: pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/supervisor/channels/control_socket.h"
#include "core/protocol/attach_protocol.h"

namespace memprof {

// The directory of the socket that an environment (words, each with a 0 behind it) names.
std::optional<std::string> DirectoryInEnvironment(std::string_view environment);
// … that the library in an attached process says it was given.
std::optional<std::string> DirectoryOf(const AttachState& state);

// Each thread's part of that library, in bytes; none that can't be right.
std::optional<size_t> ThreadBytesOf(const AttachState& state);

// Pre: kTaken.
std::string TextOfSnapshot(const ControlReply& reply);
// The capture that a detached process has, as a shell takes it.
std::string CaptureOfDetached(const ControlReply& reply);

}  // namespace memprof
