// Formats numbers for people, and reads them back.
//
// Bytes are counted in powers of 1024 (KiB, MiB, …). When read, "24MB", "24 MB", "24M" and "24 MiB"
// all mean 24 × 1048576: a budget of "24 MB" is never tighter than the report from which it was
// copied.
//
// Thread safety: pure functions.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"

namespace memprof {

// Each is 1024 of the one before.
inline constexpr const char* kByteUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};

std::string FormatBytes(uint64_t bytes);                           // "0 B", "512 B", "23.4 MiB"
std::string FormatBytesExact(uint64_t bytes);                      // "23.4 MiB (24,536,678 B)"
std::string FormatCount(uint64_t count);                           // "1,234,567"
std::string FormatCountOf(uint64_t count, std::string_view what);  // "1 place", "1,234 places"
std::string FormatDuration(uint64_t milliseconds);  // "350 ms", "4.2 s", "3 min 20 s", "2 h 5 min"
std::string FormatShare(uint64_t part, uint64_t whole);  // "42.1%"; "-" if the whole is 0
std::string FormatUtcTime(int64_t unix_ms);              // ISO 8601: "2026-01-31T12:00:00.000Z"

Result<uint64_t> ParseBytes(std::string_view text);

// Milliseconds of "90s", "1h30m", "1.5h", "250ms", "2d"; nullopt if the text is no time with units.
std::optional<uint64_t> ParseTime(std::string_view text);
// The value of an option that takes a time: as ParseTime, and a number without a unit is in
// seconds: "90", "0.2".
Result<std::chrono::milliseconds> ParseDuration(std::string_view text);

}  // namespace memprof
