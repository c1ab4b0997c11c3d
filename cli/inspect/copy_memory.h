// CopyMemory: the memory of a frozen copy, by /proc/PID/mem. Pages that aren't there are not read: that
// would map them in. MappedFiles reads these, too: for the headers of modules.
//
// Pages of shared mappings, and those of files that were only read, count as not there: a copy's page
// table doesn't have them.
//
// Thread safety: any thread.
#pragma once

#include <sys/types.h>

#include "core/inspect/memory_source.h"
#include "core/result.h"
#include "core/scoped_fd.h"

namespace memprof {

class CopyMemory : public MemorySource {
 public:
  static Result<CopyMemory> Open(pid_t pid);

  void Read(uint64_t address, std::span<unsigned char> to) const override;
  uint64_t SkipZeros(uint64_t begin, uint64_t end) const override;
  void Resident(uint64_t page, std::span<unsigned char> is) const override;

 private:
  friend class MappedFiles;

  CopyMemory(ScopedFd memory, ScopedFd pages)
      : memory_(std::move(memory)), pages_(std::move(pages)) {}
  void ReadPresent(uint64_t address, std::span<unsigned char> to) const;

  ScopedFd memory_;
  ScopedFd pages_;
};

// Ownership: the memory must outlive it.
class MappedFiles : public MemorySource {
 public:
  explicit MappedFiles(const CopyMemory& memory) : memory_(memory) {}

  void Read(uint64_t address, std::span<unsigned char> to) const override {
    memory_.ReadPresent(address, to);
  }

 private:
  const CopyMemory& memory_;
};

}  // namespace memprof
