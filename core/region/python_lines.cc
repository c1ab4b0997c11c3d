#include "core/region/python_lines.h"

#include <algorithm>
#include <limits>

namespace memprof {
namespace {

constexpr uint64_t kToTheEnd = std::numeric_limits<uint64_t>::max();
constexpr int64_t kNoLine = std::numeric_limits<int64_t>::min();

uint32_t Shown(int64_t line) {
  return line > 0 && line <= std::numeric_limits<int32_t>::max() ? static_cast<uint32_t>(line) : 0;
}

uint8_t Byte(std::string_view table, size_t at) { return static_cast<uint8_t>(table[at]); }
int64_t SignedByte(std::string_view table, size_t at) {
  return static_cast<int8_t>(Byte(table, at));
}

// An integer in pieces of 6 bits, the lowest first; bit 6 says that another one follows. The sign
// is the lowest bit.
int64_t SignedInteger(std::string_view table, size_t at) {
  uint64_t value = 0;
  for (unsigned shift = 0; at < table.size() && shift < 42; shift += 6, ++at) {
    value |= uint64_t{Byte(table, at) & 63u} << shift;
    if ((Byte(table, at) & 64) == 0) break;
  }
  const auto size = static_cast<int64_t>(value >> 1);
  return (value & 1) != 0 ? -size : size;
}

}  // namespace

PythonLineTable::PythonLineTable(PythonLines kind, std::string_view table, int32_t first_line)
    : first_line_(first_line) {
  switch (kind) {
    case PythonLines::kLnotab:
      DecodeLnotab(table);
      break;
    case PythonLines::kRanges:
      DecodeRanges(table);
      break;
    case PythonLines::kLocations:
      DecodeLocations(table);
      break;
    case PythonLines::kNone:
      Add(kToTheEnd, first_line_);
  }
}

void PythonLineTable::Add(uint64_t end, int64_t line) {
  const uint64_t begin = ranges_.empty() ? 0 : ranges_.back().end;
  if (end <= begin) return;
  // What a function does before its first line, as making the cells of its variables.
  has_line_ = has_line_ || line != kNoLine;
  if (!has_line_) line = first_line_;
  if (!ranges_.empty() && ranges_.back().line == Shown(line)) {
    ranges_.back().end = end;
  } else {
    ranges_.push_back({end, Shown(line)});
  }
}

void PythonLineTable::DecodeLnotab(std::string_view table) {
  uint64_t bytes = 0;
  int64_t line = first_line_;
  for (size_t at = 0; at + 1 < table.size(); at += 2) {
    bytes += Byte(table, at);
    // An instruction at an odd byte doesn't exist.
    Add((bytes + 1) / 2, line);
    line += SignedByte(table, at + 1);
  }
  Add(kToTheEnd, line);
}

void PythonLineTable::DecodeRanges(std::string_view table) {
  constexpr int64_t kWithout = -128;
  uint64_t bytes = 0;
  int64_t line = first_line_;
  for (size_t at = 0; at + 1 < table.size(); at += 2) {
    bytes += Byte(table, at);
    const int64_t step = SignedByte(table, at + 1);
    if (step != kWithout) line += step;
    Add(bytes / 2, step != kWithout ? line : kNoLine);
  }
}

void PythonLineTable::DecodeLocations(std::string_view table) {
  constexpr uint8_t kHead = 0x80;
  enum Form : uint8_t { kOneLine0 = 10, kOneLine2 = 12, kNoColumns = 13, kLong = 14, kNone = 15 };
  uint64_t units = 0;
  int64_t line = first_line_;
  for (size_t at = 0; at < table.size();) {
    const uint8_t head = Byte(table, at);
    const uint8_t form = head >> 3 & 15;
    units += (head & 7u) + 1;
    if (form == kNoColumns || form == kLong) {
      line += SignedInteger(table, at + 1);
    } else if (form >= kOneLine0 && form <= kOneLine2) {
      line += form - kOneLine0;
    }
    line = std::clamp<int64_t>(line, -(int64_t{1} << 40), int64_t{1} << 40);
    Add(units, form != kNone ? line : kNoLine);
    do {
      ++at;
    } while (at < table.size() && (Byte(table, at) & kHead) == 0);
  }
}

uint32_t PythonLineTable::LineOf(int32_t instruction) const {
  if (instruction < 0) return Shown(first_line_);
  const auto at =
      std::upper_bound(ranges_.begin(), ranges_.end(), static_cast<uint64_t>(instruction),
                       [](uint64_t wanted, const Range& range) { return wanted < range.end; });
  return at != ranges_.end() ? at->line : 0;
}

}  // namespace memprof
