#include "core/units.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <ctime>

namespace memprof {
namespace {

constexpr size_t kMostDigits = 9;

struct TimeUnit {
  std::string_view name;
  double milliseconds;
};
constexpr TimeUnit kTimeUnits[] = {{"ms", 1},     {"s", 1e3},    {"m", 60e3},
                                   {"min", 60e3}, {"h", 3600e3}, {"d", 86400e3}};

// Takes the characters before the first one that isn't in `set` off the text.
std::string_view Take(std::string_view& text, std::string_view set) {
  const std::string_view taken = text.substr(0, text.find_first_not_of(set));
  text.remove_prefix(taken.size());
  return taken;
}

// Takes one "1.5h" or "30m"; negative if there is none.
double TakeTime(std::string_view& text) {
  const std::string number(Take(text, "0123456789."));
  const std::string_view unit = Take(text, "abcdefghijklmnopqrstuvwxyz");
  const bool is_number = !number.empty() && number.size() <= kMostDigits && number[0] != '.' &&
                         number.back() != '.' && number.find('.') == number.rfind('.');
  for (const TimeUnit& known : kTimeUnits) {
    if (is_number && unit == known.name) {
      return std::strtod(number.c_str(), nullptr) * known.milliseconds;
    }
  }
  return -1;
}

}  // namespace

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
      if (result >= 18446744073709551615.0 || (result > 0 && result < 0.5)) return bad();
      return static_cast<uint64_t>(std::round(result));
    }
    factor *= 1024;
  }
  return bad();
}

std::optional<uint64_t> ParseTime(std::string_view text) {
  double sum = 0;
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    const double time = TakeTime(text);
    if (time < 0) return std::nullopt;
    sum += time;
  }
  return static_cast<uint64_t>(std::llround(sum));
}

Result<std::chrono::milliseconds> ParseDuration(std::string_view text) {
  const bool is_number =
      !text.empty() && text.find_first_not_of("0123456789.") == std::string_view::npos;
  const auto time = ParseTime(is_number ? std::string(text) + "s" : std::string(text));
  // Ten years: sums of such times can't overflow.
  constexpr uint64_t kLongestMs = uint64_t{3650} * 24 * 3600 * 1000;
  const bool vanishes = time && *time == 0 && text.find_first_of("123456789") != text.npos;
  if (time && *time <= kLongestMs && !vanishes) return std::chrono::milliseconds(*time);
  return Fail(ErrorKind::kUsage,
              fmt::format("'{}' is no time; write e.g. 0.5, 90s, 10m or 1h30m", text));
}

}  // namespace memprof
