#include "core/symbolizer/elf_file.h"

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

ElfFile::ElfFile(const std::string& path)
    : own_fd_(OpenRegularFile(path)), elf_(Begin(own_fd_.get())) {}

ElfFile::ElfFile(int fd) : elf_(Begin(fd)) {}

ElfFile::~ElfFile() { elf_end(elf_); }

}  // namespace memprof
