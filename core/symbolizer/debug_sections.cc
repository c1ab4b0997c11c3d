#include "core/symbolizer/debug_sections.h"

#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

#include <string_view>

namespace memprof {
namespace {

bool HasUnreadableCompression(Elf* elf) {
  size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return false;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || (header.sh_flags & SHF_COMPRESSED) == 0) {
      continue;
    }
    const char* name = elf_strptr(elf, names, header.sh_name);
    if (name == nullptr || !std::string_view(name).starts_with(".debug_")) continue;
    GElf_Chdr compression;
    if (gelf_getchdr(section, &compression) == nullptr || compression.ch_type != ELFCOMPRESS_ZLIB) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool HasUnreadableCompression(const std::string& file) {
  const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  elf_version(EV_CURRENT);
  Elf* elf = elf_begin(fd, ELF_C_READ_MMAP, nullptr);
  const bool unreadable = elf != nullptr && HasUnreadableCompression(elf);
  elf_end(elf);
  close(fd);
  return unreadable;
}

}  // namespace memprof
