// RegionPython: the Python functions of a region's stacks.
//
// The records are written by the profiled process, so all that they name is checked. Decoding is
// bounded as a whole: many records may name the same large table.
//
// Thread safety: none. Memory: what the functions in use need; kMostBytes in region_python.cc
// bounds their texts and tables.
// Failure: a function without a valid record is called "?".
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/region/python_lines.h"
#include "core/region/region_view.h"
#include "core/snapshot/snapshot.h"

namespace memprof {

class RegionPython {
 public:
  // The functions are added to snapshot.python.
  RegionPython(const RegionView& region, Snapshot& snapshot)
      : region_(region), snapshot_(snapshot) {}

  // The frame of a PythonWord.
  SnapshotFrame FrameOf(uint64_t word);

 private:
  struct Function {
    uint32_t index;  // in snapshot.python
    PythonLineTable lines;
  };
  const Function& FunctionOf(uint32_t code);

  const RegionView& region_;
  Snapshot& snapshot_;
  std::unordered_map<uint32_t, Function> functions_;
  uint64_t bytes_ = 0;
};

}  // namespace memprof
