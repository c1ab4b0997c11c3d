// SlotOwners: which processes have slots of children's areas, found by the kernel's word alone. For
// claims whose pid may be of another namespace, and those without one.
//
// The process is the one that lives, has that pid as it sees itself, and has the slot's guard page
// inaccessible. Threads of the kernel, and what was there before the program, are no candidates.
// One whose main thread alone has ended lives. All claims are looked for at once: it is a walk
// through /proc.
//
// Thread safety: pure. Failure: kUnknown where nobody may be asked.
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
  ChildrenAreaFile::Owns owns = ChildrenAreaFile::Owns::kUnknown;  // whether anybody does
  pid_t pid = 0;                                                   // kYes: who
};

// One for each claim. kYes also where one process alone can be its owner, and may not be asked.
// kNo: none that was there all the while, and all were seen. `since`: StartTicksOf the program.
// `is_descendant` is asked of processes of other users that may not be asked themselves.
std::vector<SlotOwner> FindSlotOwners(const std::vector<SlotClaim>& claims, uint64_t since,
                                      const std::function<bool(pid_t)>& is_descendant = nullptr);

}  // namespace memprof
