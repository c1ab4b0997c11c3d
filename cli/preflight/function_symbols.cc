#include "cli/preflight/function_symbols.h"

#include <gelf.h>

namespace memprof {
namespace {

std::string_view BytesOf(Elf_Scn* section) {
  const Elf_Data* data = section == nullptr ? nullptr : elf_rawdata(section, nullptr);
  if (data == nullptr || data->d_buf == nullptr) return {};
  return {static_cast<const char*>(data->d_buf), data->d_size};
}

}  // namespace

FunctionSymbols::FunctionSymbols(Elf* elf) {
  const char* identity = elf_getident(elf, nullptr);
  if (identity == nullptr || identity[EI_CLASS] != ELFCLASS64 || identity[EI_DATA] != ELFDATA2LSB) {
    return;
  }
  for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr;
       section = elf_nextscn(elf, section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr ||
        (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM)) {
      continue;
    }
    complete_ |= header.sh_type == SHT_SYMTAB;
    Table table = {BytesOf(section), BytesOf(elf_getscn(elf, header.sh_link))};
    while (!table.names.empty() && table.names.back() != '\0') table.names.remove_suffix(1);
    if (!table.symbols.empty() && !table.names.empty()) tables_.push_back(table);
  }
}

bool FunctionSymbols::AnyNameEndsWith(std::string_view tail) const {
  for (const Table& table : tables_) {
    const char* at = table.names.data();
    const char* const end = at + table.names.size();
    while (at < end) {
      const void* found = memmem(at, static_cast<size_t>(end - at), tail.data(), tail.size());
      if (found == nullptr) break;
      at = static_cast<const char*>(found) + tail.size();
      if (at < end && *at == '\0') return true;
    }
  }
  return false;
}

}  // namespace memprof
