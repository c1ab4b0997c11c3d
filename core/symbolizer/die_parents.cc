#include "core/symbolizer/die_parents.h"

#include <algorithm>

namespace memprof {
namespace {

constexpr size_t kDeepest = 200;  // more is no compiler's work

}  // namespace

std::vector<Dwarf_Die> DieParents::Of(const Dwarf_Die& die) {
  std::vector<Dwarf_Die> parents;
  Dwarf_Die copy = die;
  Dwarf_Die parent;
  if (dwarf_diecu(&copy, &parent, nullptr, nullptr) == nullptr) return parents;
  while (parents.size() < kDeepest) {
    const std::vector<void*>& children = ChildrenOf(parent);
    const auto after = std::upper_bound(children.begin(), children.end(), die.addr);
    if (after == children.begin() || after[-1] == die.addr) break;
    parent = DieAt(die, after[-1]);  // it begins before the DIE, and its sibling after it
    parents.push_back(parent);
  }
  return parents;
}

const std::vector<void*>& DieParents::ChildrenOf(Dwarf_Die& parent) {
  const auto [at, fresh] = children_.try_emplace(parent.addr);
  Dwarf_Die child;
  if (fresh && dwarf_child(&parent, &child) == 0) {
    do {
      at->second.push_back(child.addr);
    } while (dwarf_siblingof(&child, &child) == 0);
    at->second.shrink_to_fit();
  }
  return at->second;
}

}  // namespace memprof
