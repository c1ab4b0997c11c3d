// RegionFile: the region as its creator has it, in memory (memfd) or in a file of the user's.
//
// Ownership: closes its descriptor; a user's file stays.
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

  // A part of a file that many regions share; the descriptor is duplicated.
  static Result<RegionFile> PartOf(const RegionPlace& part);

  int fd() const { return fd_.get(); }
  uint64_t bytes() const { return place_.layout->bytes; }
  // With the layout that we made ourselves.
  const RegionPlace& place() const { return place_; }

 private:
  RegionFile(ScopedFd fd, RegionPlace place) : fd_(std::move(fd)), place_(std::move(place)) {}
  static Result<RegionFile> LayOut(ScopedFd fd, uint64_t budget_bytes, bool allocate);

  ScopedFd fd_;
  RegionPlace place_;  // reached by fd_
};

// Raises our limits on file sizes and memory: they are meant for the program, not for the region
// and the captures. Call it after the program was forked.
void RaiseOwnLimits();

}  // namespace memprof
