// RegionFile: the region as its creator has it, in memory (memfd) or in a file of the user's.
//
// Ownership: closes its descriptor; a user's file stays.
// Memory: sparse; a file is allocated in full, so that a full disk is noticed now and never as a
// SIGBUS of the program.
// Failure: nothing is left behind. RLIMIT_AS and RLIMIT_FSIZE make a region smaller.
#pragma once

#include <cstdint>
#include <string>

#include "core/region_layout.h"
#include "core/region_place.h"
#include "core/result.h"

namespace memprof {

class RegionFile {
 public:
  static Result<RegionFile> InMemory();
  // In a new file; with `overwrite` it takes the place of an existing one, whose content lives on
  // for who has it open.
  static Result<RegionFile> InFile(const std::string& path, bool overwrite);

  RegionFile(RegionFile&& other) noexcept;
  RegionFile& operator=(RegionFile&& other) noexcept;
  ~RegionFile();

  // Before a tracker has it. False: it can't be written.
  bool SetOptions(const TrackerOptions& options);

  // A part of an area that many share; `fd` is duplicated.
  static Result<RegionFile> PartOf(int fd, uint64_t offset, uint64_t bytes);

  int fd() const { return fd_; }
  uint64_t bytes() const { return bytes_; }
  RegionPlace place() const { return part_ ? RegionPlace(fd_, offset_, bytes_) : RegionPlace(fd_); }

 private:
  RegionFile(int fd, uint64_t bytes) : fd_(fd), bytes_(bytes) {}
  static Result<RegionFile> LayOut(int fd, uint64_t budget_bytes, bool allocate);

  int fd_;
  uint64_t bytes_;
  uint64_t offset_ = 0;
  bool part_ = false;  // of a shared area
};

// A limit on the size of files is meant for the program's, not for the region and the captures.
// To be called when the program has been forked.
void RaiseOwnFileSizeLimit();

}  // namespace memprof
