// FunctionSymbols: the functions that a 64-bit ELF file defines, from its symbol tables. The tables
// are read in place in the mapped file, without copying or sorting. Half a million symbols take
// some 10 ms.
//
// Memory: a few words. Lifetime: views into the Elf, which must stay open.
// Failure: a table outside the file is left out; a name outside the file is empty.
#pragma once

#include <elf.h>
#include <libelf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace memprof {

struct FunctionSymbol {
  uint64_t start;
  uint64_t end;  // above start
  std::string_view name;
  std::string_view file;  // for a local function, up to the first dot (jemalloc.c, jemalloc.pic.o)
};

class FunctionSymbols {
 public:
  explicit FunctionSymbols(Elf* elf);

  bool complete() const { return complete_; }  // the file has a .symtab

  // True if any name ends in `tail`: searches only the bytes of the names.
  bool AnyNameEndsWith(std::string_view tail) const;

  // Calls visit(const FunctionSymbol&) for each, in the tables' order; a function in two tables is
  // visited twice.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    for (const Table& table : tables_) {
      std::string_view file;
      for (size_t i = 0; i < table.symbols.size() / sizeof(Elf64_Sym); ++i) {
        Elf64_Sym symbol;
        memcpy(&symbol, table.symbols.data() + i * sizeof symbol, sizeof symbol);
        const auto type = ELF64_ST_TYPE(symbol.st_info);
        if (type == STT_FILE) file = FileStem(NameAt(table.names, symbol.st_name));
        if (type != STT_FUNC || symbol.st_shndx == SHN_UNDEF) continue;
        const bool local = ELF64_ST_BIND(symbol.st_info) == STB_LOCAL;
        visit(
            FunctionSymbol{symbol.st_value, symbol.st_value + std::max<uint64_t>(symbol.st_size, 1),
                           NameAt(table.names, symbol.st_name), local ? file : std::string_view()});
      }
    }
  }

 private:
  struct Table {
    std::string_view symbols;  // Elf64_Sym, unaligned
    std::string_view names;    // ends in a 0
  };

  static std::string_view FileStem(std::string_view name) { return name.substr(0, name.find('.')); }
  static std::string_view NameAt(std::string_view names, size_t at) {
    return at < names.size() ? std::string_view(names.data() + at) : std::string_view();
  }

  std::vector<Table> tables_;
  bool complete_ = false;
};

}  // namespace memprof
