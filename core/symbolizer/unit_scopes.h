// UnitScopes: the functions of one compile unit and what was inlined into them, by address.
//
// Built once for a unit that is hit: looking scopes up in the tree of the debug info for each
// address costs milliseconds. Most of a unit of C++ are classes, whose functions have their code
// elsewhere as a rule (rustc's don't): they are looked into only when an address isn't found
// without them.
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

  // What is inlined at the address, innermost first, and last the function that contains it.
  // Empty: no function does. `is_code`: false where it is known that none does (padding), which
  // spares a search.
  std::vector<Dwarf_Die> At(uint64_t address, bool is_code = true);

 private:
  static constexpr uint32_t kNone = 0xffffffffu;

  struct Range {
    uint64_t low;
    uint32_t bytes;
    uint32_t scope;
  };
  // A function, or a function inlined into one.
  struct Scope {
    void* die;        // its place: whole DIEs of a large program would be hundreds of megabytes
    uint32_t parent;  // what it is inlined into; kNone: a function
    uint32_t depth;   // of inlining; a function: 0
  };
  // The inlined ranges of a function stand together.
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
  std::vector<void*> left_classes_;  // not looked into yet
};

}  // namespace memprof
