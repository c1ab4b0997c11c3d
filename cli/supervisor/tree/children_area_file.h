// ChildrenAreaFile: the children's area (core/protocol/children_area.h) as the supervisor has it: a
// memfd that every followed process maps.
//
// Every process that is followed may write all of it at any time, so nothing in it is believed: the
// layout and the slots' generations are our own, what a child says of itself is read once, and is
// good for names and figures at most.
//
// Thread safety: Free by any thread; the others by one. Failure: Result.
// Memory: sparse. A slot has what its child wrote, until Free.
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

namespace memprof {

class ChildrenAreaFile {
 public:
  static Result<ChildrenAreaFile> Make(uint32_t slots = kMaxChildSlots);

  ChildrenAreaFile(ChildrenAreaFile&& other) noexcept;
  ChildrenAreaFile& operator=(ChildrenAreaFile&&) = delete;
  ~ChildrenAreaFile();

  int fd() const { return fd_; }
  uint64_t bytes() const { return layout_.bytes(); }
  uint64_t refused() const { return header_->refused.load(std::memory_order_relaxed); }

  // A slot in which a child counts, or has.
  struct Claim {
    uint32_t slot;
    uint32_t pid;       // as the child says; kUnknownPid: it may not ask
    bool foreign_pids;  // … and may not be ours
    ImageId image;
    ImageId parent;                               // … as the child says
    std::chrono::steady_clock::time_point start;  // since the area was made, not after now
  };
  // Those that came since the last call, at most one of a slot until that is freed. A child that is
  // still setting its slot up comes later; one that ended before it had is forgotten, and its slot
  // freed.
  std::vector<Claim> NewClaims();

  RegionPlace RegionOf(uint32_t slot) const;

  // By the kernel's word, whether the process has the slot for its own. kNo: its mappings were
  // read, and the slot's guard isn't among them. kUnknown: it may not be asked about, or has ended.
  enum class Owns { kYes, kNo, kUnknown };
  Owns Has(pid_t pid, uint32_t slot) const;
  // All slots that it has so, its own and its parent's; nothing: it may not be asked about.
  std::optional<std::vector<uint32_t>> GuardsOf(pid_t pid) const;
  // Whether the process has the area mapped: it is followed, or was forked by one that is.
  bool IsMappedBy(pid_t pid) const;

  // Pre: the slot's process has ended or executed something else, and its region was read.
  void Free(uint32_t slot);

 private:
  ChildrenAreaFile(int fd, const ChildrenLayout& layout, ChildrenHeader* header);
  std::chrono::steady_clock::time_point Started(uint64_t started_ns) const;
  Owns Find(pid_t pid, const std::function<bool(const MappingLine&)>& is_wanted) const;

  // What we know of a slot. Invariant: Free alone moves `generation`, by release before the slot is
  // shown as free; so who sees a next claim, by acquire of its owner, sees the generation as well.
  struct Slot {
    std::atomic<uint32_t> generation{0};
    uint32_t told = 0;  // the generation that NewClaims gave, plus 1
  };

  int fd_;
  ChildrenLayout layout_;
  std::shared_ptr<const RegionLayout> region_layout_;  // of each slot's region
  ChildrenHeader* header_;                             // mapped, and written by others
  std::chrono::steady_clock::time_point made_ = std::chrono::steady_clock::now();
  uint64_t inode_ = 0;
  uint64_t seen_ = 0;  // of header_->claimed
  std::vector<Slot> slots_;
};

}  // namespace memprof
