// SymbolIndex: the functions in a module's symbol tables, by address. libdwfl has such a search,
// but it goes through every symbol each time.
//
// Thread safety: const after Fill. Ownership: names belong to the module, which must outlive it.
#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/symbolizer/range_index.h"

namespace memprof {

class SymbolIndex {
 public:
  void Fill(Dwfl_Module* module);

  // The mangled symbol of the function that contains the address, without its version
  // ("@GLIBC_2.2.5"); empty if none does. If several do, it is the one that begins last, and among
  // aliases the global one. A symbol without a size (assembly) reaches up to the next symbol, and
  // yields to one with a size.
  std::string At(uint64_t address) const;

  // False if every function has a symbol, and none contains the address.
  bool MayBeCode(uint64_t address) const;

 private:
  struct Symbol {
    const char* name;
    bool has_size;
  };
  std::vector<Symbol> symbols_;
  RangeIndex<uint32_t> by_address_;  // of symbols_
  bool has_local_symbols_ = false;   // also those that other modules can't bind to
};

}  // namespace memprof
