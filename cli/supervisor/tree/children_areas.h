// ChildrenAreas: a children's area for each user of the tree. A process that gave up root and executed
// a program must not write to the area where root's processes count.
//
// Thread safety: one owner, one thread; ChildrenAreaFile states its own. Pointers to areas stay
// valid. Failure: an area that can't be made is reported on stderr.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <vector>

#include "cli/supervisor/tree/children_area_file.h"

namespace memprof {

struct AreaClaim {
  ChildrenAreaFile* area;
  ChildrenAreaFile::Claim claim;
};

class ChildrenAreas {
 public:
  // Makes the area of our own user.
  static Result<ChildrenAreas> Make();

  // The user's area, which is made if it isn't there yet; null: it can't be made.
  ChildrenAreaFile* Of(uid_t user);
  bool IsOf(uid_t user, const ChildrenAreaFile& area) const;

  // True if the process has an area mapped: it is followed, or was forked by one that is.
  bool IsMappedBy(pid_t pid) const;

  // The new claims of all areas (ChildrenAreaFile::NewClaims), by start.
  std::vector<AreaClaim> NewClaims();
  // The number of forked children that found no child's slot free.
  uint64_t refused() const;

 private:
  ChildrenAreas() = default;

  std::map<uid_t, ChildrenAreaFile> areas_;
};

}  // namespace memprof
