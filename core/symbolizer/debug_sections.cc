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

// ".debug_line_str", ".zdebug_str", ".debug_str.dwo"; not ".debug_str_offsets".
bool IsOfNames(std::string_view section) {
  if (section.ends_with(".dwo")) section.remove_suffix(4);
  return section.find("debug_") != section.npos && section.ends_with("_str");
}

}  // namespace

bool HasCutNames(Dwarf* dwarf) {
  Elf* elf = dwarf_getelf(dwarf);
  size_t sections = 0;
  if (elf_getshdrstrndx(elf, &sections) != 0) return false;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    const char* name = elf_strptr(elf, sections, header.sh_name);
    if (name == nullptr || !IsOfNames(name)) continue;
    // What libdw has decompressed is so for us too.
    const Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr || data->d_size == 0) continue;
    if (static_cast<const char*>(data->d_buf)[data->d_size - 1] != 0) return true;
  }
  return false;
}

bool HasUnreadableCompression(const std::string& file) {
  const ElfFile opened(file);
  return opened.elf() != nullptr && HasUnreadableCompression(opened.elf());
}

}  // namespace memprof
