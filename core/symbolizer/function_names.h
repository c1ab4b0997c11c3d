// FunctionNames: the debug info's name of a function, with its namespaces, classes and parameters.
//
// Thread safety: none. Ownership: the Dwarf and the symbols must outlive it.
#pragma once

#include <elfutils/libdw.h>

#include <string>
#include <unordered_map>

#include "core/symbolizer/die_parents.h"
#include "core/symbolizer/symbol_index.h"
#include "core/symbolizer/type_names.h"

namespace memprof {

class FunctionNames {
 public:
  explicit FunctionNames(const SymbolIndex& symbols) : symbols_(symbols) {}
  FunctionNames(const FunctionNames&) = delete;
  FunctionNames& operator=(const FunctionNames&) = delete;

  // `function` is a DW_TAG_subprogram or a DW_TAG_inlined_subroutine. Never empty.
  const std::string& Of(Dwarf_Die& function);

 private:
  std::string NameOf(Dwarf_Die& function, int level);
  std::string FromDeclaration(Dwarf_Die& function, Dwarf_Die& declaration, const std::string& plain,
                              int level);
  std::string ScopesOf(Dwarf_Die& declaration, int level);
  bool HasTypes(Dwarf_Die& declaration);

  const SymbolIndex& symbols_;
  DieParents parents_;
  TypeNames types_{parents_, [this](Dwarf_Die& die, int level) { return ScopesOf(die, level); }};
  std::unordered_map<const void*, bool> units_with_types_;  // by the unit's place in memory
  std::unordered_map<const void*, std::string> names_;      // by the DIE's place in memory
};

}  // namespace memprof
