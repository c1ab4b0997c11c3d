// InnerJemallocCache: what ReadInnerJemalloc says of the executables that a run's processes
// execute, each read once. A tracker waits for the answer, 200 ms at most: make and its like
// execute the same few files thousands of times.
//
// A file is known by device, inode, size and the time of its last change.
// Thread safety: none. Memory: at most 256 files, of which all are forgotten when there are more.
// Failure: nothing is found in what can't be read.
#pragma once

#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <map>
#include <string>

#include "core/region_layout.h"

namespace memprof {

class InnerJemallocCache {
 public:
  // Of the executable that a process runs.
  InnerJemalloc Of(pid_t pid);
  InnerJemalloc OfFile(const std::string& path);

  size_t files() const { return known_.size(); }

 private:
  struct File {
    uint64_t device, inode;
    int64_t bytes, seconds, nanoseconds;
    auto operator<=>(const File&) const = default;
  };

  std::map<File, InnerJemalloc> known_;
};

}  // namespace memprof
