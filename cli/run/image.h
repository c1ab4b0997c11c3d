// Image: one program of the profiled process, from its connecting to its exec or end, with its
// region and its capture.
//
// Thread safety: none. Failure: Write gives the error of the capture's writer.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/run/region_file.h"
#include "core/result.h"
#include "core/snapshot.h"

namespace memprof {

class Image {
 public:
  Image(RegionFile region, pid_t pid, std::vector<std::string> command);

  const RegionFile& region() const { return region_; }

  // Looks at the heap's peak and the process's memory. False: nothing has changed since the last.
  bool Sample(std::chrono::milliseconds resolution);

  // What the region holds now. `end` is kRunning while the process lives.
  Result<Snapshot> Read(EndKind end, uint32_t code);

 private:
  RegionFile region_;
  pid_t pid_;
  SnapshotProgram program_;
  std::chrono::steady_clock::time_point start_;
  uint64_t current_ = 0;
  uint64_t peak_ = 0;
};

// The base name of what `pid` executes now; empty: not known.
std::string ProgramName(pid_t pid);
std::vector<std::string> CommandOf(pid_t pid);

}  // namespace memprof
