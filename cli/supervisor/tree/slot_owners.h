// SlotOwners: finds the processes that own slots of children's areas, only by what the kernel says.
// Used for claims without a pid, or with one that may belong to another namespace.
//
// The owner is the living process that has the claim's pid in its own namespace, and has the slot's
// guard page readable. Kernel threads, and processes that are older than the program, are no
// candidates. A process lives as long as one of its threads does. All claims are resolved together,
// because it takes a walk through /proc.
//
// Thread safety: pure. Failure: kUnknown if nobody may be asked.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "cli/supervisor/tree/children_area_file.h"

namespace memprof {

struct SlotClaim {
  const ChildrenAreaFile* area;
  ChildrenAreaFile::Claim claim;
};

struct SlotOwner {
  // whether any process owns the slot
  ChildrenAreaFile::Owns owns = ChildrenAreaFile::Owns::kUnknown;
  pid_t pid = 0;  // for kYes: the owner
};

// Returns one result for each claim. It is kYes also if only one process is possible and it may not
// be asked. It is kNo if no process that existed all the time owns the slot, and all were seen.
// `since` is StartTicksOf the program. `is_descendant` is called for other users' processes that
// may not be asked themselves.
std::vector<SlotOwner> FindSlotOwners(const std::vector<SlotClaim>& claims, uint64_t since,
                                      const std::function<bool(pid_t)>& is_descendant = nullptr);

}  // namespace memprof
