// FunctionNames: what the debug info calls a function, with its namespaces and classes.
//
// Thread safety: none. Ownership: the Dwarf and the symbols must outlive it.
#pragma once

#include <elfutils/libdw.h>

#include <string>
#include <unordered_map>

#include "core/symbolizer/die_parents.h"
#include "core/symbolizer/symbol_index.h"

namespace memprof {

class FunctionNames {
 public:
  explicit FunctionNames(const SymbolIndex& symbols) : symbols_(symbols) {}

  // `function` is a DW_TAG_subprogram or a DW_TAG_inlined_subroutine. Never empty.
  const std::string& Of(Dwarf_Die& function);

 private:
  std::string NameOf(Dwarf_Die& function, int level);
  std::string WithScopes(Dwarf_Die& declaration, const char* plain, int level);

  const SymbolIndex& symbols_;
  DieParents parents_;
  std::unordered_map<const void*, std::string> names_;  // by the DIE's place in memory
};

}  // namespace memprof
