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

uint64_t LoadBase(Elf* elf, uint64_t begin) {
  size_t count = 0;
  elf_getphdrnum(elf, &count);
  for (size_t i = 0; i < count; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf, static_cast<int>(i), &segment) == nullptr) continue;
    if (segment.p_type == PT_LOAD) return begin - (segment.p_vaddr & ~uint64_t{4095});
  }
  return begin;
}

}  // namespace memprof
