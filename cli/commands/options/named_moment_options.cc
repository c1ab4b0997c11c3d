#include "cli/commands/options/named_moment_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "cli/basics/option_checks.h"
#include "cli/basics/output_name.h"
#include "core/units.h"

namespace memprof {
namespace {

// The supervisor looks every 100 ms.
constexpr std::chrono::milliseconds kShortestPeriod{100};

std::string FileOf(const std::string& pattern, const std::string& moment) {
  return ExpandName(pattern, "", 0, &moment);
}

}  // namespace

int SignalNumber(const std::string& text) {
  if (IsWholeNumber(text)) {
    const auto number = std::stoul(text);
    return number >= 1 && number <= static_cast<unsigned long>(SIGRTMAX) ? static_cast<int>(number)
                                                                         : 0;
  }
  const std::string name = text.starts_with("SIG") ? text.substr(3) : text;
  for (int number = 1; number <= SIGRTMAX; ++number) {
    const char* known = sigabbrev_np(number);
    if (known != nullptr && name == known) return number;
  }
  return 0;
}

Result<std::chrono::milliseconds> ReadPeriod(const std::string& option, const std::string& text,
                                             std::chrono::milliseconds least) {
  auto time = ParseDuration(text);
  if (time && *time >= least) return time;
  return Fail(ErrorKind::kUsage, fmt::format("{} '{}' is no time of {} ms to ten years; write e.g. "
                                             "0.5, 90s, 10m or 1h30m",
                                             option, text, least.count()));
}

Result<NamedMomentOptions> ReadNamedMomentFlags(const NamedMomentFlags& flags) {
  NamedMomentOptions options;
  if (!flags.every.empty()) {
    const auto period = ReadPeriod("--snapshot-every", flags.every, kShortestPeriod);
    if (!period) return tl::unexpected<Error>(period.error());
    options.schedule.every_ms = static_cast<uint64_t>(period->count());
  }
  if (!flags.at_rss.empty()) {
    const auto bytes = ParseBytes(flags.at_rss);
    if (!bytes || *bytes == 0) {
      return Fail(
          ErrorKind::kUsage,
          fmt::format("--snapshot-at-rss '{}' is no size; write e.g. 512M or 4GiB", flags.at_rss));
    }
    options.schedule.at_rss_bytes = *bytes;
    options.schedule.at_rss_name = flags.at_rss;
    std::erase(options.schedule.at_rss_name, ' ');
  }
  if (!flags.signal.empty()) {
    options.signal = SignalNumber(flags.signal);
    if (options.signal == 0) {
      return Fail(ErrorKind::kUsage,
                  fmt::format("--snapshot-on '{}' is no signal; write e.g. USR1", flags.signal));
    }
    if (options.signal == SIGKILL || options.signal == SIGSTOP || options.signal == SIGCHLD) {
      return Fail(ErrorKind::kUsage,
                  fmt::format("--snapshot-on {}: this signal can't be taken; write e.g. USR1",
                              flags.signal));
    }
  }
  if (!flags.files.empty() && FileOf(flags.files, "1") == FileOf(flags.files, "2")) {
    return Fail(ErrorKind::kUsage,
                fmt::format("--snapshot-files '{}' would be one file for all; write %s where the "
                            "snapshot's name is to be, e.g. x-%s.memprof",
                            flags.files));
  }
  options.files = flags.files;
  return options;
}

void AddNamedMomentOptions(Arguments& arguments, NamedMomentFlags& flags) {
  arguments
      .Add("--snapshot-every", flags.every,
           "Take a snapshot every 10m (or 90s, 1h30m), called by its time")
      .TypeName("TIME");
  arguments
      .Add("--snapshot-on", flags.signal,
           "Take one whenever memprof gets this signal (kill -USR1 its pid), which is then "
           "not forwarded to the program")
      .TypeName("SIGNAL");
  arguments
      .Add("--snapshot-at-rss", flags.at_rss,
           "Take one when the resident memory reaches 4GiB, and again each time that it does "
           "after it was below half of that")
      .TypeName("BYTES");
  arguments
      .Add("--snapshot-files", flags.files,
           "Write each snapshot to a capture of its own instead of the run's: %s is its name, "
           "%p and %n as with -o")
      .TypeName("PATTERN");
}

}  // namespace memprof
