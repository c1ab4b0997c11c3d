#include "core/budget/bound.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/units.h"

namespace memprof {
namespace {

constexpr double kMostPercent = 1e6;

uint64_t Whole(double value) { return value <= 0 ? 0 : static_cast<uint64_t>(std::llround(value)); }

std::string_view WithoutSpaces(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

Result<double> ParsePercent(std::string_view text) {
  std::string_view number = WithoutSpaces(text);
  double value = 0;
  if (number.ends_with('%')) {
    number = WithoutSpaces(number.substr(0, number.size() - 1));
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (error == std::errc() && end == number.data() + number.size() && std::isfinite(value) &&
        value >= 0 && value <= kMostPercent) {
      return value;
    }
  }
  return Fail(ErrorKind::kUsage, fmt::format("'{}' is no percentage; write e.g. 25%", text));
}

Result<double> ParseCount(std::string_view text) {
  const std::string_view number = WithoutSpaces(text);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc() || end != number.data() + number.size()) {
    return Fail(ErrorKind::kUsage, fmt::format("'{}' is no number; write e.g. 1000", text));
  }
  return static_cast<double>(value);
}

}  // namespace

double LargestIncrement(const std::vector<Increment>& increments, double value,
                        double noise_floor) {
  double largest = noise_floor;
  for (const Increment& increment : increments) {
    largest = std::max(largest, value * increment.percent / 100 + increment.amount);
  }
  return largest;
}

Result<double> ParseAmount(std::string_view text, Unit unit) {
  if (unit == Unit::kPercent) return ParsePercent(text);
  if (unit == Unit::kCount) return ParseCount(text);
  std::string_view bytes = WithoutSpaces(text);
  if (unit == Unit::kBytesPerHour && bytes.ends_with("/h")) {
    bytes = WithoutSpaces(bytes.substr(0, bytes.size() - 2));
  }
  const auto parsed = ParseBytes(bytes);
  if (!parsed) return tl::unexpected<Error>(parsed.error());
  return static_cast<double>(*parsed);
}

Result<Increment> ParseIncrement(std::string_view text, Unit unit) {
  std::string_view rest = WithoutSpaces(text);
  if (!rest.starts_with('+')) {
    return Fail(ErrorKind::kUsage, fmt::format("'{}' is no increment; write e.g. \"+5%\"", text));
  }
  rest.remove_prefix(1);
  const bool relative = rest.ends_with('%');
  if (unit == Unit::kPercent && !relative) {
    return Fail(ErrorKind::kUsage,
                fmt::format("'{}': a share grows by a percentage; write e.g. \"+5%\"", text));
  }
  const auto parsed = ParseAmount(rest, relative ? Unit::kPercent : unit);
  if (!parsed) return tl::unexpected<Error>(parsed.error());
  return relative ? Increment{*parsed, 0} : Increment{0, *parsed};
}

std::string FormatValue(double value, Unit unit) {
  switch (unit) {
    case Unit::kCount:
      return FormatCount(Whole(value));
    case Unit::kPercent:
      return fmt::format("{:.1f}%", value);
    case Unit::kBytesPerHour:
      return FormatBytes(Whole(value)) + "/h";
    case Unit::kBytes:
      break;
  }
  return FormatBytes(Whole(value));
}

std::string FormatValueExact(double value, Unit unit) {
  switch (unit) {
    case Unit::kCount:
      return FormatCount(Whole(value));
    case Unit::kPercent:
      return fmt::format("{}%", value);
    case Unit::kBytesPerHour:
      return FormatBytesExact(Whole(value)) + "/h";
    case Unit::kBytes:
      break;
  }
  return FormatBytesExact(Whole(value));
}

}  // namespace memprof
