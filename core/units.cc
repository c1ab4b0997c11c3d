#include "core/units.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cmath>
#include <ctime>

namespace memprof {

std::string FormatBytes(uint64_t bytes) {
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  // 1023.95 and above would round to "1024.0".
  while ((unit == 0 ? value >= 1024 : value >= 1023.95) && unit + 1 < std::size(kByteUnits)) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kByteUnits[unit]);
}

std::string FormatBytesExact(uint64_t bytes) {
  if (bytes < 1024) return FormatBytes(bytes);
  return fmt::format("{} ({} B)", FormatBytes(bytes), FormatCount(bytes));
}

std::string FormatCount(uint64_t count) {
  const std::string digits = std::to_string(count);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string FormatCountOf(uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", FormatCount(count), what, count == 1 ? "" : "s");
}

std::string FormatDuration(uint64_t milliseconds) {
  if (milliseconds < 1000) return fmt::format("{} ms", milliseconds);
  if (milliseconds < 60 * 1000) {
    return fmt::format("{:.1f} s", static_cast<double>(milliseconds / 100) / 10);
  }
  const uint64_t seconds = milliseconds / 1000;
  if (seconds < 3600) return fmt::format("{} min {} s", seconds / 60, seconds % 60);
  return fmt::format("{} h {} min", seconds / 3600, seconds / 60 % 60);
}

std::string FormatShare(uint64_t part, uint64_t whole) {
  if (whole == 0) return "-";
  return fmt::format("{:.1f}%", 100 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string FormatUtcTime(int64_t unix_ms) {
  const std::time_t seconds = unix_ms / 1000 - (unix_ms % 1000 < 0 ? 1 : 0);
  std::tm parts = {};
  if (gmtime_r(&seconds, &parts) == nullptr) return "1970-01-01T00:00:00.000Z";
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     unix_ms - int64_t{seconds} * 1000);
}

Result<uint64_t> ParseBytes(std::string_view text) {
  const std::string whole(text);
  auto bad = [&] {
    return Fail(ErrorKind::kUsage,
                fmt::format("'{}' is no size; write e.g. 512, 64 KiB, 24 MB or 1.5 GiB", whole));
  };
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value) || value < 0) return bad();
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  std::string unit;
  for (const char c : text) unit += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  double factor = 1;
  for (const char* name : kByteUnits) {
    const char letter = static_cast<char>(std::tolower(name[0]));
    const std::string accepted[] = {std::string(1, letter), std::string(1, letter) + "b",
                                    std::string(1, letter) + "ib"};
    const bool bytes = letter == 'b';
    if ((bytes && (unit.empty() || unit == "b")) ||
        (!bytes && (unit == accepted[0] || unit == accepted[1] || unit == accepted[2]))) {
      const double result = value * factor;
      if (result >= 18446744073709551615.0) return bad();
      return static_cast<uint64_t>(std::llround(result));
    }
    factor *= 1024;
  }
  return bad();
}

}  // namespace memprof
