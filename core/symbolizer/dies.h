// Small questions about DIEs, the entries of DWARF debug info, that several readers ask.
//
// Thread safety: as libdw's: none for one Dwarf. Ownership: a Dwarf_Die is a place in its Dwarf.
// Failure: a DIE that can't be read has no children, no flag and no reference.
#pragma once

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <cstddef>
#include <vector>

namespace memprof {

inline bool IsClass(int tag) {
  return tag == DW_TAG_class_type || tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
}

// A flag of the DIE, of the DIE that it is a copy of, or of its declaration.
inline bool HasFlag(Dwarf_Die& die, unsigned name) {
  Dwarf_Attribute attribute;
  bool flag = false;
  return dwarf_attr_integrate(&die, name, &attribute) != nullptr &&
         dwarf_formflag(&attribute, &flag) == 0 && flag;
}

// Moves `die` to the DIE that its attribute refers to. False: it has no such reference.
inline bool Follow(Dwarf_Die& die, unsigned reference) {
  Dwarf_Attribute attribute;
  Dwarf_Die target;
  if (dwarf_attr(&die, reference, &attribute) == nullptr ||
      dwarf_formref_die(&attribute, &target) == nullptr) {
    return false;
  }
  die = target;
  return true;
}

// The function's DIE, then the one it is a clone or an inlined copy of, and so on; the last is the
// declaration: that of a method is in its class.
inline std::vector<Dwarf_Die> WithOrigins(const Dwarf_Die& function) {
  constexpr size_t kMost = 16;  // ends a loop
  std::vector<Dwarf_Die> dies = {function};
  Dwarf_Die die = function;
  while (dies.size() < kMost &&
         (Follow(die, DW_AT_abstract_origin) || Follow(die, DW_AT_specification))) {
    dies.push_back(die);
  }
  return dies;
}

template <typename Visit>
void EachChild(Dwarf_Die& parent, Visit visit) {
  Dwarf_Die child;
  if (dwarf_child(&parent, &child) != 0) return;
  do {
    visit(child);
  } while (dwarf_siblingof(&child, &child) == 0);
}

}  // namespace memprof
