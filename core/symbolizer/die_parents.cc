#include "core/symbolizer/die_parents.h"

#include <dwarf.h>

#include <algorithm>

namespace memprof {
namespace {

constexpr size_t kDeepestDie = 200;  // no compiler nests deeper

bool MayHoldFunctions(Dwarf_Die& die) {
  switch (dwarf_tag(&die)) {
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_enumeration_type:
    case DW_TAG_variant_part:
    case DW_TAG_variant:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_lexical_block:
      return dwarf_haschildren(&die) == 1;
    case DW_TAG_subprogram:
      return dwarf_haschildren(&die) == 1 && dwarf_hasattr(&die, DW_AT_declaration) == 0;
    default:
      return false;
  }
}

}  // namespace

std::vector<Dwarf_Die> DieParents::Of(const Dwarf_Die& die) {
  std::vector<Dwarf_Die> parents;
  Dwarf_Die copy = die;
  Dwarf_Die parent;
  if (dwarf_diecu(&copy, &parent, nullptr, nullptr) == nullptr) return parents;
  while (parents.size() < kDeepestDie) {
    const std::vector<void*>& scopes = ScopesIn(parent);
    const auto after = std::lower_bound(scopes.begin(), scopes.end(), die.addr);
    if (after == scopes.begin()) break;
    // The last child that begins before the DIE may contain it, if the next child begins after it.
    parent = DieAt(die, after[-1]);
    Dwarf_Die next;
    if (dwarf_siblingof(&parent, &next) == 0 && next.addr <= die.addr) break;
    parents.push_back(parent);
  }
  return parents;
}

const std::vector<void*>& DieParents::ScopesIn(Dwarf_Die& parent) {
  const auto [at, fresh] = scopes_.try_emplace(parent.addr);
  Dwarf_Die child;
  if (fresh && dwarf_child(&parent, &child) == 0) {
    do {
      if (MayHoldFunctions(child)) at->second.push_back(child.addr);
    } while (dwarf_siblingof(&child, &child) == 0);
    at->second.shrink_to_fit();
  }
  return at->second;
}

}  // namespace memprof
