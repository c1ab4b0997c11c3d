// SlotClaims: finds the process that claimed each child's slot (core/protocol/children_area.h).
//
//   the claim's pid is valid here   the process is asked: it has the slot, has executed, or is gone
//   any other claim                 unresolved: a search finds the owners of all such slots
//
// Searches take at most a twentieth of the time. A slot isn't reused before its owner is found.
//
// Thread safety: one owner, one thread.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <vector>

#include "cli/supervisor/tree/children_areas.h"
#include "cli/supervisor/tree/tree_members.h"

namespace memprof {

class SlotClaims {
 public:
  struct Resolved {
    AreaClaim claim;
    TreeMember* process;  // with the claim's pid; null: it has ended
    bool has_slot;        // it still counts in the slot
    bool executed;        // it lives and doesn't count in the slot
  };
  using Take = std::function<void(const Resolved&)>;
  // Begins to watch a process, unless it is watched; null: it has ended.
  using Watch = std::function<TreeMember*(pid_t)>;

  // The references must outlive this.
  SlotClaims(ChildrenAreas& areas, TreeMembers& members, Watch watch, Take take);

  // Passes the new claims that can be resolved to `take`, and the others if it is time to search.
  // Returns whether there are new ones.
  bool Look();
  // Searches for the owners of unresolved claims, if there are any.
  void Search();
  // Returns the unresolved claims and forgets them: no process can be asked about them.
  std::vector<AreaClaim> GiveUp();

 private:
  void Resolve(const AreaClaim& claim);
  bool MayHaveClaimed(pid_t pid, const ChildrenAreaFile& area) const;

  ChildrenAreas& areas_;
  TreeMembers& members_;
  const Watch watch_;
  const Take take_;
  std::vector<AreaClaim> unresolved_;
  std::chrono::steady_clock::time_point next_search_ = std::chrono::steady_clock::now();
};

}  // namespace memprof
