// MappingLine: a line of /proc/PID/maps, or of a text that repeats such lines (smaps, jemalloc's
// profile).
//
//   55d0c000-55d0e000 r-xp 00001000 fe:01 4242        /usr/bin/a program
//
// Thread safety: pure. Failure: nullopt for a line of another kind.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace memprof {

// The texts point into the line.
struct MappingLine {
  uint64_t start = 0;
  uint64_t end = 0;              // above the start
  std::string_view permissions;  // "r-xp"
  uint64_t offset = 0;           // in the file
  std::string_view device;       // "fe:01"
  uint64_t inode = 0;            // 0: no file
  std::string_view name;         // path, "[heap]", …; empty: anonymous
};

std::optional<MappingLine> ParseMappingLine(std::string_view line);

}  // namespace memprof
