#include "cli/inspect/data_symbols.h"

#include <gelf.h>

#include <algorithm>

#include "core/symbolizer/elf_file.h"

namespace memprof {
namespace {

// The file is the program's, and may be made to be large.
constexpr size_t kMostSymbols = 1'000'000;

struct Found {
  AddressRange range;
  const char* name;
  const char* section;
  bool is_global;
};

// The names of sections that the program can write; nullptr for the others.
std::vector<const char*> WritableSections(Elf* elf) {
  std::vector<const char*> names;
  size_t strings = 0;
  if (elf_getshdrstrndx(elf, &strings) != 0) return names;
  names.push_back(nullptr);
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    const bool fits = gelf_getshdr(section, &header) != nullptr &&
                      (header.sh_flags & (SHF_ALLOC | SHF_WRITE)) == (SHF_ALLOC | SHF_WRITE);
    names.push_back(fits ? elf_strptr(elf, strings, header.sh_name) : nullptr);
  }
  return names;
}

std::vector<Found> SymbolsIn(Elf* elf, Elf_Scn* table, uint64_t base) {
  std::vector<Found> found;
  const std::vector<const char*> sections = WritableSections(elf);
  VisitSymbols(elf, table, [&](const GElf_Sym& symbol, const char* name) {
    if (GELF_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_size < sizeof(uint64_t) ||
        symbol.st_shndx >= sections.size() || sections[symbol.st_shndx] == nullptr ||
        *name == '\0' || found.size() == kMostSymbols) {
      return;
    }
    const uint64_t at = base + symbol.st_value;
    if (at + symbol.st_size < at) return;
    found.push_back({{at, at + symbol.st_size},
                     name,
                     sections[symbol.st_shndx],
                     GELF_ST_BIND(symbol.st_info) == STB_GLOBAL});
  });
  return found;
}

}  // namespace

std::vector<DataSymbol> DataSymbolsOf(const std::string& path, uint64_t begin) {
  const ElfFile file(path);
  Elf* const elf = file.elf();
  if (elf == nullptr) return {};
  const auto of_type = [elf](uint32_t type) {
    return FindSection(elf, [type](Elf_Scn*, const GElf_Shdr& header, std::string_view) {
      return header.sh_type == type;
    });
  };
  Elf_Scn* table = of_type(SHT_SYMTAB);
  if (table == nullptr) table = of_type(SHT_DYNSYM);
  if (table == nullptr) return {};
  std::vector<Found> found = SymbolsIn(elf, table, LoadBase(elf, begin));
  // A global name goes before others for the same place.
  std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    return a.range.begin != b.range.begin ? a.range.begin < b.range.begin
                                          : a.is_global > b.is_global;
  });
  std::vector<DataSymbol> symbols;
  for (const Found& one : found) {
    if (!symbols.empty() && one.range.begin < symbols.back().range.end) continue;
    symbols.push_back({one.range, one.name, one.section});
  }
  return symbols;
}

}  // namespace memprof
