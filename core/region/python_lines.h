// PythonLines: the lines of a code object's instructions, decoded from the table that the
// interpreter made for it.
//
//   to 3.9   pairs of bytes: how far the next line's code begins, and by how much its line is higher
//   3.10     pairs: the length of a range, and the difference of its line; −128: it has no line
//   3.11     entries: a head with the length in code units, then a difference by variable integers
//
// The table may be any bytes: the profiled process wrote it.
//
// Thread safety: plain values.
// Failure: none. A table that ends in the middle of an entry gives the lines before it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/protocol/python_layout.h"

namespace memprof {

class PythonLineTable {
 public:
  PythonLineTable() = default;
  PythonLineTable(PythonLines kind, std::string_view table, int32_t first_line);

  // The line of an instruction, by its number in code units; −1: before the first one. Before the
  // first instruction that has a line: the function's first line. 0: it has none, or it is not known.
  uint32_t LineOf(int32_t instruction) const;

 private:
  struct Range {
    uint64_t end;  // of the instructions, in code units
    uint32_t line;
  };
  void DecodeLnotab(std::string_view table);
  void DecodeRanges(std::string_view table);
  void DecodeLocations(std::string_view table);
  void Add(uint64_t end, int64_t line);

  int64_t first_line_ = 0;
  bool has_line_ = false;  // one of the instructions so far
  std::vector<Range> ranges_;
};

}  // namespace memprof
