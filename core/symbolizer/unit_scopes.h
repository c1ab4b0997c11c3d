// UnitScopes: the functions of one compile unit and the functions inlined into them, by address.
//
// It is built once for a unit that is hit: searching the debug info's tree for each address takes
// milliseconds. Most of a C++ unit are classes, and the code of their functions is usually
// elsewhere (rustc is different). So classes are searched only if an address isn't found without
// them.
//
// Thread safety: one thread at a time. Ownership: the DIEs belong to the Dwarf, which must outlive
// it.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <vector>

#include "core/symbolizer/range_index.h"

namespace memprof {

class UnitScopes {
 public:
  explicit UnitScopes(Dwarf_Die unit);

  // The functions inlined at the address, innermost first, and last the function that contains it.
  // Empty if no function does. `is_code` is false if the address is known to be in no function
  // (padding), which saves a search.
  std::vector<Dwarf_Die> At(uint64_t address, bool is_code = true);

 private:
  static constexpr uint32_t kNone = 0xffffffffu;

  struct Range {
    uint64_t low;
    uint32_t bytes;
    uint32_t scope;
  };
  // A function, or a function that is inlined into another.
  struct Scope {
    // the DIE's place: whole DIEs would take hundreds of megabytes in a large program
    void* die;
    uint32_t parent;  // the scope that it is inlined into; kNone: a function
    uint32_t depth;   // of inlining; a function: 0
  };
  // The inlined ranges of a function are adjacent.
  struct Function {
    uint32_t scope;
    size_t first_inlined = 0;
    size_t end_inlined = 0;
  };

  void CollectFunctions(Dwarf_Die parent, int level);
  void CollectInlined(Dwarf_Die parent, uint32_t scope, int level);
  void CollectLeftClasses();
  std::vector<Dwarf_Die> Covering(uint64_t address) const;
  uint32_t AddScope(const Dwarf_Die& die, uint32_t parent);

  Dwarf_Die unit_;
  std::vector<Scope> scopes_;
  std::vector<Range> inlined_ranges_;
  std::vector<Function> functions_;
  RangeIndex<uint32_t> by_address_;  // of functions_
  std::vector<void*> left_classes_;  // classes that were not searched yet
};

}  // namespace memprof
