// RegionFile: the region as its creator has it, in memory (memfd) or in a file of the user's.
//
// Ownership: shares its descriptor with all who have its place; a user's file stays.
// Memory: sparse. A user's file is allocated in full, so that a full disk is reported now and never
// as a SIGBUS in the program.
// Failure: nothing is left behind. RLIMIT_AS and RLIMIT_FSIZE make a region smaller.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "core/protocol/handshake.h"
#include "core/protocol/region_layout.h"
#include "core/region/region_place.h"
#include "core/result.h"
#include "core/scoped_fd.h"

namespace memprof {

class RegionFile {
 public:
  // Has at most about `most_bytes`, but at least the smallest region's size.
  static Result<RegionFile> InMemory(uint64_t most_bytes = kAnyRegionBytes);
  // Makes a new file. With `overwrite` it replaces an existing one, whose content stays available
  // to processes that have it open.
  static Result<RegionFile> InFile(const std::string& path, bool overwrite,
                                   uint64_t most_bytes = kAnyRegionBytes);

  // Call it before a tracker has the region. False: it can't be written.
  bool SetOptions(const TrackerOptions& options);

  // A part of a file that many regions share. A descriptor each would be too many for a tree of a
  // thousand children.
  static RegionFile PartOf(RegionPlace part) { return RegionFile(std::move(part)); }

  int fd() const { return place_.fd; }
  uint64_t bytes() const { return place_.layout->bytes; }
  // With the layout that we made ourselves.
  const RegionPlace& place() const { return place_; }

 private:
  explicit RegionFile(RegionPlace place) : place_(std::move(place)) {}
  static Result<RegionFile> LayOut(ScopedFd fd, uint64_t budget_bytes, bool allocate);

  RegionPlace place_;
};

// Raises our limits on file sizes and memory: they are meant for the program, not for the region
// and the captures. Call it after the program was forked.
void RaiseOwnLimits();

}  // namespace memprof
