// DieParents: what a DIE stands in. DIEs don't know their parents; this looks for them from the
// unit downwards, and keeps the children of what it passed.
//
// Thread safety: none. Ownership: the Dwarf must outlive it.
#pragma once

#include <elfutils/libdw.h>

#include <unordered_map>
#include <vector>

namespace memprof {

// A DIE at another place of the unit that `die` is in. libdw finds the rest when it is asked.
inline Dwarf_Die DieAt(const Dwarf_Die& die, void* place) {
  Dwarf_Die other = {};
  other.addr = place;
  other.cu = die.cu;
  return other;
}

class DieParents {
 public:
  // From the child of the unit to the parent of the DIE; empty: the DIE is itself a child of it.
  std::vector<Dwarf_Die> Of(const Dwarf_Die& die);

 private:
  const std::vector<void*>& ScopesIn(Dwarf_Die& parent);

  std::unordered_map<void*, std::vector<void*>> scopes_;  // of a parent, in the order of the file
};

}  // namespace memprof
