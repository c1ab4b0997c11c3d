// RegionFile: the region as its creator has it, in memory (memfd) or in a file of the user's.
//
// Ownership: closes its descriptor; a user's file stays.
// Memory: sparse; a file is allocated in full, so that a full disk is noticed now and never as a
// SIGBUS of the program.
// Failure: nothing is left behind. RLIMIT_AS and RLIMIT_FSIZE make a region smaller.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "core/protocol/handshake.h"
#include "core/protocol/region_layout.h"
#include "core/region/region_place.h"
#include "core/result.h"

namespace memprof {

class RegionFile {
 public:
  // Has at most about `most_bytes`, as the smallest region allows.
  static Result<RegionFile> InMemory(uint64_t most_bytes = kAnyRegionBytes);
  // In a new file; with `overwrite` it takes the place of an existing one, whose content lives on
  // for who has it open.
  static Result<RegionFile> InFile(const std::string& path, bool overwrite,
                                   uint64_t most_bytes = kAnyRegionBytes);

  RegionFile(RegionFile&& other) noexcept;
  RegionFile& operator=(RegionFile&& other) noexcept;
  ~RegionFile();

  // Before a tracker has it. False: it can't be written.
  bool SetOptions(const TrackerOptions& options);

  // A part of an area that many share; the descriptor is duplicated.
  static Result<RegionFile> PartOf(const RegionPlace& part);

  int fd() const { return place_.fd; }
  uint64_t bytes() const { return place_.layout->bytes; }
  // With the layout that we made.
  const RegionPlace& place() const { return place_; }

 private:
  explicit RegionFile(RegionPlace place) : place_(std::move(place)) {}
  static Result<RegionFile> LayOut(int fd, uint64_t budget_bytes, bool allocate);

  RegionPlace place_;
};

// Limits on the size of files and on memory are meant for the program, not for the region and the
// captures. To be called when the program has been forked.
void RaiseOwnLimits();

}  // namespace memprof
