// RegionFile: the region as its creator has it, a memfd or a file of the user's.
//
// Ownership: closes its descriptor; a user's file stays.
// Memory: sparse, or for a file allocated in full, so that a full disk is noticed now and never as
// a SIGBUS of the program.
#pragma once

#include <cstdint>
#include <string>

#include "core/result.h"

namespace memprof {

class RegionFile {
 public:
  // In memory.
  static Result<RegionFile> InMemory();
  // In a new file; an existing one is replaced if `overwrite`.
  static Result<RegionFile> InFile(const std::string& path, bool overwrite);

  RegionFile(RegionFile&& other) noexcept;
  RegionFile& operator=(RegionFile&& other) noexcept;
  ~RegionFile();

  int fd() const { return fd_; }
  uint64_t bytes() const { return bytes_; }

 private:
  RegionFile(int fd, uint64_t bytes) : fd_(fd), bytes_(bytes) {}
  static Result<RegionFile> LayOut(int fd, uint64_t budget_bytes, bool allocate);

  int fd_;
  uint64_t bytes_;
};

}  // namespace memprof
