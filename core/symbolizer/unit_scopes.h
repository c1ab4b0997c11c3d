// UnitScopes: the functions of one compile unit and what was inlined into them, by address.
//
// Built once for a unit that is hit: looking scopes up in the tree of the debug info for each
// address costs milliseconds.
//
// Thread safety: const after Build. Ownership: the DIEs belong to the Dwarf, which must outlive it.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <vector>

namespace memprof {

class UnitScopes {
 public:
  explicit UnitScopes(Dwarf_Die unit);

  // The function that contains the address, then what is inlined there, innermost last. Empty: none.
  std::vector<Dwarf_Die> At(uint64_t address) const;

 private:
  struct Range {
    uint64_t low, high;  // [low, high)
    uint32_t scope;
  };
  struct Scope {
    Dwarf_Die die;
    std::vector<Range> inlined;  // of functions: ranges of what is inlined into it
    uint32_t depth;              // of inlined ones: nesting
  };

  void Collect(Dwarf_Die parent, int64_t function, uint32_t depth, int level);
  void AddRanges(Dwarf_Die& die, uint32_t scope, std::vector<Range>& ranges) const;

  std::vector<Scope> scopes_;
  std::vector<Range> functions_;  // by low
};

}  // namespace memprof
