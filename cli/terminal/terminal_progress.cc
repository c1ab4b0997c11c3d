#include "cli/terminal/terminal_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "core/units.h"

namespace memprof {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kPatience{300};  // work that is done by then prints nothing
constexpr milliseconds kPause{100};
constexpr size_t kLongestName = 40;

void Write(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

// A file's name may contain anything.
std::string PlainName(const std::string& name) {
  std::string plain;
  for (const char c : name) plain += c >= 0x20 && c < 0x7f ? c : '?';
  return plain.size() > kLongestName ? plain.substr(0, kLongestName) + "…" : plain;
}

}  // namespace

bool TerminalProgress::Wanted() {
  const char* terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

TerminalProgress::TerminalProgress() : next_(steady_clock::now() + kPatience) {}

TerminalProgress::~TerminalProgress() {
  if (shown_) Write("\r\x1b[K");
}

void TerminalProgress::Show(const SymbolizerProgress& progress) {
  const auto now = steady_clock::now();
  if (now < next_) return;
  next_ = now + kPause;
  shown_ = true;
  Write("\r\x1b[Kmemprof: " + ProgressText(progress));
}

std::string ProgressText(const SymbolizerProgress& progress) {
  const std::string module = PlainName(progress.module);
  if (progress.downloading) {
    if (progress.total == 0) return fmt::format("asking for debug info of {}", module);
    return fmt::format("downloading debug info of {}: {} of {}", module, FormatBytes(progress.done),
                       FormatBytes(progress.total));
  }
  if (progress.total == 0) return fmt::format("reading symbols of {}", module);
  return fmt::format("resolving {}: {} of {} frames", module, FormatCount(progress.done),
                     FormatCount(progress.total));
}

}  // namespace memprof
