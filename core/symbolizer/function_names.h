// FunctionNames: what the debug info calls a function, with its namespaces and classes.
//
// Thread safety: none. Ownership: the Dwarf must outlive it.
#pragma once

#include <elfutils/libdw.h>

#include <string>
#include <unordered_map>

namespace memprof {

class FunctionNames {
 public:
  // `function` is a DW_TAG_subprogram or a DW_TAG_inlined_subroutine. Never empty.
  const std::string& Of(Dwarf_Die& function);

 private:
  std::unordered_map<const void*, std::string> names_;  // by the DIE's place in memory
};

}  // namespace memprof
