// ChildrenAreaFile: the children's area (core/children_area.h) as the supervisor has it: a memfd
// that every followed process maps.
//
// Thread safety: Free by any thread; the others by one. Failure: Result.
// Memory: sparse. A slot has what its child wrote, until Free.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/children_area.h"
#include "core/region_place.h"
#include "core/result.h"

namespace memprof {

class ChildrenAreaFile {
 public:
  static Result<ChildrenAreaFile> Make(uint32_t slots = kMaxChildSlots);

  ChildrenAreaFile(ChildrenAreaFile&& other) noexcept;
  ChildrenAreaFile& operator=(ChildrenAreaFile&&) = delete;
  ~ChildrenAreaFile();

  int fd() const { return fd_; }
  uint64_t bytes() const { return bytes_; }
  uint64_t refused() const { return header_->refused.load(std::memory_order_relaxed); }

  // A slot in which a child counts, or has.
  struct Claim {
    uint32_t slot;
    uint32_t pid;       // as the child says; kUnknownPid: it may not ask
    bool foreign_pids;  // … and in a namespace of its own
    ImageId image;
    ImageId parent;
    std::chrono::steady_clock::time_point start;
  };
  // Those that came since the last call. A child that is still setting its slot up comes later;
  // one that ended before it had is forgotten, and its slot freed.
  std::vector<Claim> NewClaims();

  RegionPlace RegionOf(uint32_t slot) const;

  // By the kernel's word, whether the process has the slot for its own. kUnknown: it may not be
  // asked about.
  enum class Owns { kYes, kNo, kUnknown };
  Owns Has(pid_t pid, uint32_t slot) const;
  // The process that has it, whatever its namespace of pids. kNo: none has; kUnknown: none that may
  // be asked about.
  std::pair<Owns, pid_t> FindOwner(uint32_t slot) const;
  // Whether the process has the area mapped: it is followed, or was forked by one that is.
  bool IsMappedBy(pid_t pid) const;

  // Pre: the slot's process has ended or executed something else, and its region was read.
  void Free(uint32_t slot);

 private:
  ChildrenAreaFile(int fd, uint64_t bytes, ChildrenHeader* header);
  Owns Find(pid_t pid, const char* permissions, uint64_t offset) const;

  int fd_;
  uint64_t bytes_;
  ChildrenHeader* header_;  // mapped
  uint64_t inode_ = 0;
  uint64_t seen_ = 0;            // of header_->claimed
  std::vector<uint32_t> known_;  // by slot: the generation that NewClaims gave, plus 1
};

}  // namespace memprof
