#include "core/symbolizer/elf_file.h"

#include <unistd.h>

#include "core/symbolizer/regular_file.h"

namespace memprof {
namespace {

Elf* Begin(int fd) {
  if (fd < 0 || elf_version(EV_CURRENT) == EV_NONE) return nullptr;
  Elf* elf = elf_begin(fd, ELF_C_READ_MMAP, nullptr);
  if (elf_kind(elf) == ELF_K_ELF) return elf;
  elf_end(elf);
  return nullptr;
}

}  // namespace

ElfFile::ElfFile(const std::string& path) : own_fd_(OpenRegularFile(path)), elf_(Begin(own_fd_)) {}

ElfFile::ElfFile(int fd) : own_fd_(-1), elf_(Begin(fd)) {}

ElfFile::~ElfFile() {
  elf_end(elf_);
  if (own_fd_ >= 0) close(own_fd_);
}

}  // namespace memprof
