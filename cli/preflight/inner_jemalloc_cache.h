// InnerJemallocCache: the allocators inside the executables that a run's processes execute. Each
// file is read once: a tracker waits for the answer, 200 ms at most, and make and similar programs
// execute the same few files thousands of times.
//
// A file is identified by device, inode, size and the time of its last change.
// Thread safety: none.
// Memory: at most 256 files; when there are more, all are forgotten.
// Failure: a file that can't be read has no allocator.
#pragma once

#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <map>
#include <string>

#include "core/protocol/region_layout.h"

namespace memprof {

struct InnerAllocators {
  InnerJemalloc jemalloc = {};  // one that can be hooked
  // one that can't be hooked: UnseenAllocator (a large file's malloc is found only if it is
  // exported), or "valgrind", whose tools bring their own
  std::string unseen;
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
