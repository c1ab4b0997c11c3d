// DataSymbols: a module's variables, by its symbol table, so that a root can have the name of a global.
//
// Thread safety: pure. Failure: a file that can't be read, or has no symbols, has none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/inspect/heap_graph.h"

namespace memprof {

struct DataSymbol {
  AddressRange range;   // in the process
  std::string name;     // as in the symbol table
  std::string section;  // ".bss"
};

// Those that the program can write, by address; none overlaps another. `begin`: where the file's first
// byte is mapped. Of a stripped file: those that it exports.
std::vector<DataSymbol> DataSymbolsOf(const std::string& path, uint64_t begin);

}  // namespace memprof
