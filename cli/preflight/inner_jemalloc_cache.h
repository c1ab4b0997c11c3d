// InnerJemallocCache: which allocators are inside the executables that a run's processes execute,
// each read once. A tracker waits for the answer, 200 ms at most: make and its like execute the
// same few files thousands of times.
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

#include "core/protocol/region_layout.h"

namespace memprof {

struct InnerAllocators {
  InnerJemalloc jemalloc = {};  // that can be hooked
  std::string unseen;  // that can't be: UnseenAllocator, of a large file if it exports malloc; or
                       // "valgrind", whose tools bring one of theirs
};

class InnerJemallocCache {
 public:
  // For the program that a process runs.
  const InnerAllocators& Of(pid_t pid);
  const InnerAllocators& OfFile(const std::string& path);

  size_t files() const { return known_.size(); }

 private:
  struct File {
    uint64_t device, inode;
    int64_t bytes, seconds, nanoseconds;
    auto operator<=>(const File&) const = default;
  };

  std::map<File, InnerAllocators> known_;
  const InnerAllocators none_ = {};
  const InnerAllocators of_valgrind_ = {{}, "valgrind"};
};

}  // namespace memprof
