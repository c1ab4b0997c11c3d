#include "core/symbolizer/unit_scopes.h"

#include <algorithm>
#include <utility>

#include "core/symbolizer/die_parents.h"
#include "core/symbolizer/dies.h"

namespace memprof {
namespace {

constexpr int kDeepestScope = 200;  // nesting of DIEs; no compiler nests deeper

template <typename Visit>
void EachRange(Dwarf_Die& die, Visit visit) {
  Dwarf_Addr base = 0;
  Dwarf_Addr low = 0;
  Dwarf_Addr high = 0;
  for (ptrdiff_t offset = 0; (offset = dwarf_ranges(&die, offset, &base, &low, &high)) > 0;) {
    // 0 and 1 stand for functions that the linker dropped.
    if (low > 1 && low < high) visit(low, high);
  }
}

// True for DIEs whose children are never code.
bool HoldsNoCode(int tag) {
  switch (tag) {
    case DW_TAG_call_site:
    case DW_TAG_GNU_call_site:
    case DW_TAG_enumeration_type:
    case DW_TAG_array_type:
    case DW_TAG_subroutine_type:
    case DW_TAG_GNU_template_parameter_pack:
    case DW_TAG_GNU_formal_parameter_pack:
      return true;
    default:
      return false;
  }
}

bool IsDeclaration(Dwarf_Die& die) {
  return dwarf_haschildren(&die) == 1 && dwarf_hasattr(&die, DW_AT_declaration) == 1;
}

}  // namespace

UnitScopes::UnitScopes(Dwarf_Die unit) : unit_(unit) {
  CollectFunctions(unit, 0);
  by_address_.Sort();
  scopes_.shrink_to_fit();
  inlined_ranges_.shrink_to_fit();
}

void UnitScopes::CollectLeftClasses() {
  for (void* place : std::exchange(left_classes_, {})) CollectFunctions(DieAt(unit_, place), 1);
  by_address_.Sort();
}

uint32_t UnitScopes::AddScope(const Dwarf_Die& die, uint32_t parent) {
  const uint32_t depth = parent == kNone ? 0 : scopes_[parent].depth + 1;
  scopes_.push_back({die.addr, parent, depth});
  return static_cast<uint32_t>(scopes_.size() - 1);
}

// Every DIE is searched, now or later: lambdas are functions of classes inside functions.
void UnitScopes::CollectFunctions(Dwarf_Die parent, int level) {
  const bool leave_classes = level == 0 || dwarf_tag(&parent) == DW_TAG_namespace;
  Dwarf_Die die;
  if (level > kDeepestScope || dwarf_child(&parent, &die) != 0) return;
  do {
    const int tag = dwarf_tag(&die);
    if (tag == DW_TAG_subprogram) {
      if (IsDeclaration(die)) continue;
      const size_t ranges_before = by_address_.size();
      const auto index = static_cast<uint32_t>(functions_.size());
      EachRange(die, [&](uint64_t low, uint64_t high) { by_address_.Add(low, high, index); });
      if (by_address_.size() != ranges_before) {
        functions_.push_back({AddScope(die, kNone)});
        functions_.back().first_inlined = inlined_ranges_.size();
        CollectInlined(die, functions_.back().scope, level + 1);
        functions_.back().end_inlined = inlined_ranges_.size();
      }
    } else if (tag == DW_TAG_inlined_subroutine) {
      continue;  // CollectInlined has it; no function begins inside
    } else if (leave_classes && IsClass(tag)) {
      if (dwarf_haschildren(&die) == 1) left_classes_.push_back(die.addr);
      continue;
    }
    if (dwarf_haschildren(&die) == 1 && !HoldsNoCode(tag)) CollectFunctions(die, level + 1);
  } while (dwarf_siblingof(&die, &die) == 0);
}

// Collects the functions inlined below `parent`, directly or in its blocks, into `scope`.
void UnitScopes::CollectInlined(Dwarf_Die parent, uint32_t scope, int level) {
  Dwarf_Die die;
  if (level > kDeepestScope || dwarf_child(&parent, &die) != 0) return;
  do {
    switch (dwarf_tag(&die)) {
      case DW_TAG_inlined_subroutine: {
        const uint32_t inlined = AddScope(die, scope);
        EachRange(die, [&](uint64_t low, uint64_t high) {
          const uint64_t bytes = std::min<uint64_t>(high - low, UINT32_MAX);
          inlined_ranges_.push_back({low, static_cast<uint32_t>(bytes), inlined});
        });
        CollectInlined(die, inlined, level + 1);
        break;
      }
      case DW_TAG_lexical_block:
      case DW_TAG_try_block:
      case DW_TAG_catch_block:
      case DW_TAG_with_stmt:
        CollectInlined(die, scope, level + 1);
        break;
      default:
        break;
    }
  } while (dwarf_siblingof(&die, &die) == 0);
}

std::vector<Dwarf_Die> UnitScopes::At(uint64_t address, bool is_code) {
  std::vector<Dwarf_Die> chain = Covering(address);
  if (!chain.empty() || !is_code || left_classes_.empty()) return chain;
  CollectLeftClasses();
  return Covering(address);
}

std::vector<Dwarf_Die> UnitScopes::Covering(uint64_t address) const {
  std::vector<Dwarf_Die> chain;
  by_address_.Covering(address, [&](uint32_t index) {
    const Function& function = functions_[index];
    // Takes the deepest scope and then its parents: a chain is never assembled from two places.
    uint32_t deepest = function.scope;
    for (size_t i = function.first_inlined; i < function.end_inlined; ++i) {
      const Range& range = inlined_ranges_[i];
      if (range.low <= address && address - range.low < range.bytes &&
          scopes_[range.scope].depth >= scopes_[deepest].depth) {
        deepest = range.scope;
      }
    }
    for (uint32_t scope = deepest; scope != kNone; scope = scopes_[scope].parent) {
      chain.push_back(DieAt(unit_, scopes_[scope].die));
    }
    return true;
  });
  return chain;
}

}  // namespace memprof
