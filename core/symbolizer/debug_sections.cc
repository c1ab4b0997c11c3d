#include "core/symbolizer/debug_sections.h"

#include <gelf.h>

#include <string_view>

#include "core/symbolizer/elf_file.h"

namespace memprof {
namespace {

bool IsUnreadable(Elf_Scn* section, const GElf_Shdr& header, std::string_view name) {
  if ((header.sh_flags & SHF_COMPRESSED) == 0 || !name.starts_with(".debug_")) return false;
  GElf_Chdr compression;
  return gelf_getchdr(section, &compression) == nullptr || compression.ch_type != ELFCOMPRESS_ZLIB;
}

// ".debug_line_str", ".zdebug_str", ".debug_str.dwo"; not ".debug_str_offsets".
bool IsOfNames(std::string_view section) {
  if (section.ends_with(".dwo")) section.remove_suffix(4);
  return section.find("debug_") != section.npos && section.ends_with("_str");
}

bool IsCut(Elf_Scn* section, const GElf_Shdr&, std::string_view name) {
  if (!IsOfNames(name)) return false;
  // libdw decompresses a section in place, so we get it decompressed too.
  const Elf_Data* data = elf_getdata(section, nullptr);
  return data != nullptr && data->d_buf != nullptr && data->d_size != 0 &&
         static_cast<const char*>(data->d_buf)[data->d_size - 1] != 0;
}

}  // namespace

bool HasCutNames(Dwarf* dwarf) { return FindSection(dwarf_getelf(dwarf), IsCut) != nullptr; }

bool HasUnreadableCompression(const std::string& file) {
  const ElfFile opened(file);
  return FindSection(opened.elf(), IsUnreadable) != nullptr;
}

}  // namespace memprof
