/* Sizes and counts as text, for the headers that tests include; as memprof itself reads and writes
 * them (core/units.h): units are powers of 1024, and "24 MB" is 24 MiB.
 *
 * Thread safety: pure functions. */
#ifndef MEMPROF_DETAIL_BYTE_SIZE_H_
#define MEMPROF_DETAIL_BYTE_SIZE_H_

#include <cstdint>
#include <cstdio>
#include <string>

namespace memprof {
namespace detail {

inline std::string FormatCount(uint64_t count) {
  std::string text = std::to_string(count);
  for (size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
  return text;
}

/* "1 block", "1,234 blocks" */
inline std::string Plural(uint64_t count, const char* noun) {
  return FormatCount(count) + " " + noun + (count == 1 ? "" : "s");
}

inline std::string FormatBytes(uint64_t bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  // 1023.95 and above would round to "1024.0".
  for (; (unit == 0 ? value >= 1024 : value >= 1023.95) && unit < 5; ++unit) value /= 1024;
  if (unit == 0) return std::to_string(bytes) + " B";
  // Not by "%.1f", whose decimal point depends on the locale.
  const auto tenths = static_cast<uint64_t>(value * 10 + 0.5);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " " + units[unit];
}

inline std::string FormatBytesExact(uint64_t bytes) {
  if (bytes < 1024) return FormatBytes(bytes);
  return FormatBytes(bytes) + " (" + FormatCount(bytes) + " B)";
}

/* "512", "64 KiB", "24 MB", "1.5g". False: it is no size. */
inline bool ParseBytes(const char* text, uint64_t* bytes) {
  double value = 0, place = 0;
  bool digits = false;
  for (; (*text >= '0' && *text <= '9') || (*text == '.' && place == 0); ++text) {
    if (*text == '.') {
      place = 1;
      continue;
    }
    digits = true;
    value = value * 10 + (*text - '0');
    place *= 10;
  }
  if (place > 1) value /= place;
  while (*text == ' ') ++text;
  std::string unit;
  for (; *text != 0; ++text) {
    unit += static_cast<char>(*text >= 'A' && *text <= 'Z' ? *text - 'A' + 'a' : *text);
  }
  double factor = 1;
  bool known = unit.empty() || unit == "b";
  for (const char letter : {'k', 'm', 'g', 't', 'p'}) {
    if (known) break;
    factor *= 1024;
    known = unit == std::string(1, letter) || unit == std::string(1, letter) + "b" ||
            unit == std::string(1, letter) + "ib";
  }
  const double result = value * factor;
  if (!digits || !known || result >= 9223372036854775807.0) return false;
  *bytes = static_cast<uint64_t>(result + 0.5);
  return true;
}

} /* namespace detail */
} /* namespace memprof */

#endif /* MEMPROF_DETAIL_BYTE_SIZE_H_ */
