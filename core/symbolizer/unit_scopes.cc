#include "core/symbolizer/unit_scopes.h"

#include <dwarf.h>

#include <algorithm>

namespace memprof {
namespace {

constexpr int kDeepest = 200;  // nesting of DIEs; more is no compiler's work

}  // namespace

UnitScopes::UnitScopes(Dwarf_Die unit) {
  Collect(unit, -1, 0, 0);
  std::sort(functions_.begin(), functions_.end(),
            [](const Range& a, const Range& b) { return a.low < b.low; });
}

// Everything is looked into: lambdas are functions of classes inside functions.
void UnitScopes::Collect(Dwarf_Die parent, int64_t function, uint32_t depth, int level) {
  Dwarf_Die die;
  if (level > kDeepest || dwarf_child(&parent, &die) != 0) return;
  do {
    const int tag = dwarf_tag(&die);
    if (tag == DW_TAG_subprogram) {
      const auto scope = static_cast<uint32_t>(scopes_.size());
      scopes_.push_back({die, {}, 0});
      AddRanges(die, scope, functions_);
      Collect(die, scope, 0, level + 1);
    } else if (tag == DW_TAG_inlined_subroutine && function >= 0) {
      const auto scope = static_cast<uint32_t>(scopes_.size());
      scopes_.push_back({die, {}, depth + 1});
      std::vector<Range> ranges;
      AddRanges(die, scope, ranges);
      auto& inlined = scopes_[static_cast<size_t>(function)].inlined;
      inlined.insert(inlined.end(), ranges.begin(), ranges.end());
      Collect(die, function, depth + 1, level + 1);
    } else if (dwarf_haschildren(&die) == 1) {
      Collect(die, function, depth, level + 1);
    }
  } while (dwarf_siblingof(&die, &die) == 0);
}

void UnitScopes::AddRanges(Dwarf_Die& die, uint32_t scope, std::vector<Range>& ranges) const {
  Dwarf_Addr base;
  Dwarf_Addr low;
  Dwarf_Addr high;
  for (ptrdiff_t offset = 0; (offset = dwarf_ranges(&die, offset, &base, &low, &high)) > 0;) {
    if (low < high) ranges.push_back({low, high, scope});
  }
}

std::vector<Dwarf_Die> UnitScopes::At(uint64_t address) const {
  auto after = std::upper_bound(functions_.begin(), functions_.end(), address,
                                [](uint64_t a, const Range& range) { return a < range.low; });
  if (after == functions_.begin() || (after - 1)->high <= address) return {};
  const Scope& function = scopes_[(after - 1)->scope];
  std::vector<const Scope*> inlined;
  for (const Range& range : function.inlined) {
    if (range.low <= address && address < range.high) inlined.push_back(&scopes_[range.scope]);
  }
  std::sort(inlined.begin(), inlined.end(),
            [](const Scope* a, const Scope* b) { return a->depth < b->depth; });
  std::vector<Dwarf_Die> chain = {function.die};
  for (const Scope* scope : inlined) chain.push_back(scope->die);
  return chain;
}

}  // namespace memprof
