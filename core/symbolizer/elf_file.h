// ElfFile: an ELF file, open for libelf.
//
// Thread safety: none. Failure: nullptr for what is no regular file, no ELF file, or can't be read.
#pragma once

#include <libelf.h>

#include <string>

namespace memprof {

class ElfFile {
 public:
  explicit ElfFile(const std::string& path);
  // The descriptor stays the caller's, and open as long as this.
  explicit ElfFile(int fd);
  ~ElfFile();
  ElfFile(const ElfFile&) = delete;

  Elf* elf() const { return elf_; }

 private:
  const int own_fd_;
  Elf* const elf_;
};

}  // namespace memprof
