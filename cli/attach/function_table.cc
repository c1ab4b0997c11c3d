#include "cli/attach/function_table.h"

#include <gelf.h>

#include <algorithm>

#include "core/symbolizer/elf_file.h"

namespace memprof {
FunctionTable::FunctionTable(const std::string& path, uint64_t begin) {
  const ElfFile file(path);
  Elf* const elf = file.elf();
  if (elf == nullptr) return;
  const uint64_t base = LoadBase(elf, begin);
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_DYNSYM) continue;
    VisitSymbols(elf, section, [&](const GElf_Sym& symbol, const char* name) {
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0 ||
          GELF_ST_TYPE(symbol.st_info) == STT_TLS) {
        return;
      }
      const uint64_t at = base + symbol.st_value;
      functions_.push_back({at, at + std::max<uint64_t>(symbol.st_size, 1), name});
      longest_ = std::max(longest_, symbol.st_size);
    });
  }
  std::sort(functions_.begin(), functions_.end(),
            [](const Function& a, const Function& b) { return a.begin < b.begin; });
}

uint64_t FunctionTable::Find(std::string_view name) const {
  for (const Function& function : functions_) {
    if (function.name == name) return function.begin;
  }
  return 0;
}

std::vector<std::string_view> FunctionTable::NamesAt(uint64_t address) const {
  std::vector<std::string_view> names;
  auto at = std::upper_bound(
      functions_.begin(), functions_.end(), address,
      [](uint64_t wanted, const Function& function) { return wanted < function.begin; });
  while (at != functions_.begin()) {
    --at;
    if (address - at->begin > longest_) break;
    if (address < at->end) names.push_back(at->name);
  }
  return names;
}

}  // namespace memprof
