#include "core/symbolizer/debug_sections.h"

#include <gelf.h>

#include <string_view>

#include "core/symbolizer/elf_file.h"

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
  const ElfFile opened(file);
  return opened.elf() != nullptr && HasUnreadableCompression(opened.elf());
}

}  // namespace memprof
