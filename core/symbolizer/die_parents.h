// DieParents: finds the DIEs that enclose a DIE. A DIE doesn't know its parent, so the search
// starts at the unit and goes down. The children of the DIEs that it passes are kept for the next
// search.
//
// Thread safety: none. Ownership: the Dwarf must outlive it.
#pragma once

#include <elfutils/libdw.h>

#include <unordered_map>
#include <vector>

namespace memprof {

// The DIE at another place in the unit of `die`. libdw finds the rest when it is asked.
inline Dwarf_Die DieAt(const Dwarf_Die& die, void* place) {
  Dwarf_Die other = {};
  other.addr = place;
  other.cu = die.cu;
  return other;
}

class DieParents {
 public:
  // From the child of the unit to the parent of the DIE; empty: the DIE is itself a child of the
  // unit.
  std::vector<Dwarf_Die> Of(const Dwarf_Die& die);

 private:
  const std::vector<void*>& ScopesIn(Dwarf_Die& parent);

  std::unordered_map<void*, std::vector<void*>> scopes_;  // of a parent, in the order of the file
};

}  // namespace memprof
