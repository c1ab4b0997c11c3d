#include "core/symbolizer/symbol_index.h"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace memprof {
namespace {

struct Found {
  uint64_t low, high;  // high == low: it has no size
  uint64_t section_end;
  int binding;  // larger is better
  const char* name;
};

int BindingOf(const GElf_Sym& symbol) {
  switch (GELF_ST_BIND(symbol.st_info)) {
    case STB_GLOBAL:
    case STB_GNU_UNIQUE:
      return 2;
    case STB_WEAK:
      return 1;
    default:
      return 0;
  }
}

bool IsCode(const GElf_Sym& symbol, const GElf_Shdr& section) {
  const auto type = GELF_ST_TYPE(symbol.st_info);
  return (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE) &&
         (section.sh_flags & SHF_EXECINSTR) != 0;
}

std::vector<Found> FunctionsOf(Dwfl_Module* module) {
  std::vector<Found> found;
  const int count = dwfl_module_getsymtab(module);
  for (int i = 1; i < count; ++i) {
    GElf_Sym symbol;
    GElf_Addr address = 0;
    GElf_Word section_index = 0;
    Elf* elf = nullptr;
    Dwarf_Addr bias = 0;
    const char* name =
        dwfl_module_getsym_info(module, i, &symbol, &address, &section_index, &elf, &bias);
    if (name == nullptr || *name == 0 || section_index == SHN_UNDEF || elf == nullptr) continue;
    GElf_Shdr section;
    if (gelf_getshdr(elf_getscn(elf, section_index), &section) == nullptr) continue;
    if (!IsCode(symbol, section)) continue;
    found.push_back({address, address + symbol.st_size, section.sh_addr + bias + section.sh_size,
                     BindingOf(symbol), name});
  }
  return found;
}

}  // namespace

void SymbolIndex::Fill(Dwfl_Module* module) {
  std::vector<Found> found = FunctionsOf(module);
  // .dynsym has no local symbols except the null symbol and those of sections.
  has_local_symbols_ =
      std::any_of(found.begin(), found.end(), [](const Found& one) { return one.binding == 0; });
  // The best of the aliases comes last, because the last one is visited first.
  std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    return std::tie(a.low, a.binding) < std::tie(b.low, b.binding);
  });
  uint64_t next = UINT64_MAX;  // the start of the nearest symbol that begins later
  for (size_t i = found.size(); i-- > 0;) {
    Found& function = found[i];
    if (i + 1 < found.size() && found[i + 1].low != function.low) next = found[i + 1].low;
    if (function.high == function.low) function.section_end = std::min(function.section_end, next);
  }
  for (const Found& function : found) {
    const bool has_size = function.high > function.low;
    by_address_.Add(function.low, has_size ? function.high : function.section_end,
                    static_cast<uint32_t>(symbols_.size()));
    symbols_.push_back({function.name, has_size});
  }
  by_address_.Sort();
}

bool SymbolIndex::MayBeCode(uint64_t address) const {
  return !has_local_symbols_ || by_address_.Covering(address, [](uint32_t) { return true; });
}

std::string SymbolIndex::At(uint64_t address) const {
  const char* without_size = nullptr;
  const char* name = nullptr;
  by_address_.Covering(address, [&](uint32_t index) {
    const Symbol& symbol = symbols_[index];
    if (!symbol.has_size) {
      if (without_size == nullptr) without_size = symbol.name;
      return false;
    }
    name = symbol.name;
    return true;
  });
  if (name == nullptr) name = without_size;
  return name != nullptr ? std::string(name, std::strcspn(name, "@")) : std::string();
}

}  // namespace memprof
