#include "cli/supervisor/control_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/basics/shell_word.h"
#include "cli/supervisor/channels/private_directory.h"
#include "cli/supervisor/channels/tracker_socket.h"
#include "core/printable.h"
#include "core/protocol/handshake.h"
#include "core/units.h"

namespace memprof {
namespace {

// More than any build of the library needs (a few kilobytes).
constexpr uint64_t kMostThreadBytes = uint64_t{1} << 20;

// Supervisors make only such paths: /tmp/memprof-XXXXXX/tracker.
std::optional<std::string> DirectoryOfSocket(std::string_view socket) {
  const std::filesystem::path path(socket);
  const std::filesystem::path directory = path.parent_path();
  if (!path.is_absolute() || path.lexically_normal().native() != path.native() ||
      path.filename() != kTrackerSocketName ||
      !directory.filename().string().starts_with(kPrivateDirectoryPrefix)) {
    return std::nullopt;
  }
  return directory.string();
}

}  // namespace

std::optional<std::string> DirectoryInEnvironment(std::string_view environment) {
  const std::string begin = std::string(kSocketVariable) + "=";
  while (!environment.empty()) {
    const size_t end = std::min(environment.find('\0'), environment.size());
    const std::string_view word = environment.substr(0, end);
    if (word.starts_with(begin)) return DirectoryOfSocket(word.substr(begin.size()));
    environment.remove_prefix(std::min(end + 1, environment.size()));
  }
  return std::nullopt;
}

std::optional<std::string> DirectoryOf(const AttachState& state) {
  const std::string socket = TextOf(state.socket);
  if (socket.size() == sizeof state.socket) return std::nullopt;
  return DirectoryOfSocket(socket);
}

std::optional<size_t> ThreadBytesOf(const AttachState& state) {
  if (state.tls_bytes > kMostThreadBytes) return std::nullopt;
  return state.tls_bytes;
}

std::string TextOfNamedMoment(const ControlReply& reply) {
  const std::string name = TextOf(reply.name);
  const std::string file = TextOf(reply.text);
  const bool alone = reply.place == ControlPlace::kCaptureOfOwn;
  return Printable(fmt::format(
      "snapshot '{}' at {}; {}see: memprof summary {}", name, FormatDuration(reply.time_ms),
      reply.place == ControlPlace::kAtEnd ? "when the program has ended, " : "",
      ShellWord(Printable(alone ? file : file + "@" + name))));
}

std::string CaptureOfDetached(const ControlReply& reply) {
  return ShellWord(Printable(TextOf(reply.text)));
}

}  // namespace memprof
