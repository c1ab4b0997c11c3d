// ChildrenAreaFile: the supervisor's side of the children's area (core/protocol/children_area.h): a
// memfd that every followed process maps.
//
// Every followed process may write all of it at any time, so nothing in it is trusted. The layout
// and the slots' generations are our own copies. What a child says about itself is read once, and
// used at most for names and figures.
//
// Thread safety: Free by any thread; the others by one. Failure: Result.
// Memory: sparse. A child's slot keeps what its child wrote until Free.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/protocol/children_area.h"
#include "core/region/mapping_line.h"
#include "core/region/region_place.h"
#include "core/result.h"
#include "core/scoped_fd.h"

namespace memprof {

class ChildrenAreaFile {
 public:
  static Result<ChildrenAreaFile> Make(uint32_t slots = kMaxChildSlots);

  ChildrenAreaFile(ChildrenAreaFile&& other) noexcept;
  ChildrenAreaFile& operator=(ChildrenAreaFile&&) = delete;
  ~ChildrenAreaFile();

  int fd() const { return fd_->get(); }
  uint64_t bytes() const { return layout_.bytes(); }
  uint64_t refused() const { return header_->refused.load(std::memory_order_relaxed); }

  // A slot in which a child counts or counted.
  struct Claim {
    uint32_t slot;
    uint32_t pid;       // as the child claims; kUnknownPid: the child may not ask for it
    bool foreign_pids;  // … and it may not be valid here
    ImageId image;
    ImageId parent;                               // … as the child claims
    std::chrono::steady_clock::time_point start;  // not before the area was made, not after now
  };
  // The claims since the last call, at most one for each slot until it is freed. A child that is
  // still setting up its slot is reported later. If it ended before it had, the claim is dropped
  // and the slot freed.
  std::vector<Claim> NewClaims();

  RegionPlace RegionOf(uint32_t slot) const;

  // Whether the process owns the slot, according to the kernel. kNo: its mappings were read, and
  // the slot's guard isn't among them. kUnknown: it may not be asked about, or has ended.
  enum class Owns { kYes, kNo, kUnknown };
  Owns Has(pid_t pid, uint32_t slot) const;
  // All slots whose guards the process shows, its own and its parent's; unset: it may not be asked
  // about.
  std::optional<std::vector<uint32_t>> GuardsOf(pid_t pid) const;
  // True if the process has the area mapped: it is followed, or was forked by one that is.
  bool IsMappedBy(pid_t pid) const;

  // Pre: the slot's process has ended or executed another program, and its region was read.
  void Free(uint32_t slot);

 private:
  ChildrenAreaFile(ScopedFd fd, const ChildrenLayout& layout, ChildrenHeader* header);
  std::chrono::steady_clock::time_point Started(uint64_t started_ns) const;
  Owns Find(pid_t pid, const std::function<bool(const MappingLine&)>& is_wanted) const;

  // Our own record of a slot. Invariant: only Free changes `generation`; it releases it before it
  // shows the slot as free. A thread that sees the next claim, by acquiring its owner, therefore
  // sees the generation.
  struct Slot {
    std::atomic<uint32_t> generation{0};
    uint32_t told = 0;  // the generation that NewClaims reported, plus 1
  };

  std::shared_ptr<const ScopedFd> fd_;
  ChildrenLayout layout_;
  std::shared_ptr<const RegionLayout> region_layout_;  // the layout of each slot's region
  ChildrenHeader* header_;                             // mapped, and written by other processes
  std::chrono::steady_clock::time_point made_ = std::chrono::steady_clock::now();
  uint64_t inode_ = 0;
  uint64_t seen_ = 0;  // the last value of header_->claimed
  std::vector<Slot> slots_;
};

}  // namespace memprof
