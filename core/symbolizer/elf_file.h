// ElfFile: an ELF file, open for libelf.
//
// Thread safety: none. Failure: nullptr for a file that isn't regular, isn't ELF, or can't be read.
#pragma once

#include <gelf.h>
#include <libelf.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "core/scoped_fd.h"

namespace memprof {

class ElfFile {
 public:
  explicit ElfFile(const std::string& path);
  // The descriptor stays the caller's, and must stay open as long as this.
  explicit ElfFile(int fd);
  ~ElfFile();
  ElfFile(const ElfFile&) = delete;

  Elf* elf() const { return elf_; }

 private:
  const ScopedFd own_fd_;
  Elf* const elf_;
};

// What the loader added to the file's addresses, if the file's first byte is mapped at `begin`.
uint64_t LoadBase(Elf* elf, uint64_t begin);

// The first section for which `is` holds, given the section, its header and its name; nullptr: none.
template <typename Is>
Elf_Scn* FindSection(Elf* elf, Is is) {
  size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return nullptr;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    const char* name = elf_strptr(elf, names, header.sh_name);
    if (name != nullptr && is(section, header, std::string_view(name))) return section;
  }
  return nullptr;
}

// Calls visit(symbol, name) for each symbol of a table, without those whose names are unusually long:
// the names of a hostile file may overlap, and together be longer than the file.
template <typename Visit>
void VisitSymbols(Elf* elf, Elf_Scn* table, Visit visit) {
  constexpr size_t kLongestName = 4096;
  GElf_Shdr header;
  if (gelf_getshdr(table, &header) == nullptr || header.sh_entsize == 0) return;
  Elf_Data* const data = elf_getdata(table, nullptr);
  if (data == nullptr) return;
  for (size_t i = 0; i < header.sh_size / header.sh_entsize; ++i) {
    GElf_Sym symbol;
    if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) return;
    const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
    if (name == nullptr || strnlen(name, kLongestName + 1) > kLongestName) continue;
    visit(symbol, name);
  }
}

}  // namespace memprof
