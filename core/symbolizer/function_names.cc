#include "core/symbolizer/function_names.h"

#include <dwarf.h>

#include "core/symbolizer/demangle.h"

namespace memprof {
namespace {

constexpr int kMostReferences =
    16;  // from a DIE to its origin to its declaration; a loop ends here
constexpr int kDeepestScope = 100;

// A string attribute, through DW_AT_abstract_origin and DW_AT_specification; nullptr: none.
const char* Text(Dwarf_Die& die, unsigned name) {
  Dwarf_Attribute attribute;
  if (dwarf_attr_integrate(&die, name, &attribute) == nullptr) return nullptr;
  const char* text = dwarf_formstring(&attribute);
  return text != nullptr && *text != 0 ? text : nullptr;
}

bool Follow(Dwarf_Die& die, unsigned reference) {
  Dwarf_Attribute attribute;
  Dwarf_Die target;
  if (dwarf_attr(&die, reference, &attribute) == nullptr ||
      dwarf_formref_die(&attribute, &target) == nullptr) {
    return false;
  }
  die = target;
  return true;
}

bool HasNamespaces(Dwarf_Die& unit) {
  switch (dwarf_srclang(&unit)) {
    case DW_LANG_C:
    case DW_LANG_C89:
    case DW_LANG_C99:
    case DW_LANG_C11:
    case DW_LANG_Mips_Assembler:
      return false;
    default:
      return true;
  }
}

// What a DIE around a function adds to its name; empty: nothing.
std::string ScopeName(Dwarf_Die& die) {
  const char* name = Text(die, DW_AT_name);
  switch (dwarf_tag(&die)) {
    case DW_TAG_namespace:
      return name != nullptr ? name : "(anonymous namespace)";
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
      return name != nullptr ? name : "(anonymous class)";
    case DW_TAG_subprogram:
    case DW_TAG_module:
      return name != nullptr ? name : "";
    default:
      return {};
  }
}

// "a::B::" for a function declared there. DIEs don't know their parents: this goes down from the
// unit, always into the last DIE that begins before the function.
std::string Scopes(Dwarf_Die declaration) {
  Dwarf_Die parent;
  if (dwarf_diecu(&declaration, &parent, nullptr, nullptr) == nullptr || !HasNamespaces(parent)) {
    return {};
  }
  std::string scopes;
  Dwarf_Die child;
  for (int level = 0; level < kDeepestScope && dwarf_child(&parent, &child) == 0; ++level) {
    Dwarf_Die last = child;
    while (child.addr < declaration.addr) {
      last = child;
      if (dwarf_siblingof(&child, &child) != 0) break;
    }
    if (child.addr == declaration.addr || last.addr >= declaration.addr) break;
    const std::string name = ScopeName(last);
    if (!name.empty()) scopes += name + "::";
    parent = last;
  }
  return scopes;
}

// The mangled name tells namespaces and arguments. A linkage name that isn't mangled is an
// assembler label ("__GI_abort" of libc), and the plain name is what its author wrote. gcc gives no
// linkage name to what only one file sees: anonymous namespaces.
std::string NameOf(Dwarf_Die& function) {
  const char* linkage = Text(function, DW_AT_linkage_name);
  if (linkage == nullptr) linkage = Text(function, DW_AT_MIPS_linkage_name);
  if (linkage != nullptr) {
    std::string demangled = Demangle(linkage);
    if (demangled != linkage) return demangled;
  }
  const char* plain = Text(function, DW_AT_name);
  if (plain == nullptr) return linkage != nullptr ? linkage : "[unnamed]";
  Dwarf_Die declaration = function;
  for (int i = 0; i < kMostReferences; ++i) {
    if (!Follow(declaration, DW_AT_abstract_origin) && !Follow(declaration, DW_AT_specification)) {
      break;
    }
  }
  return Scopes(declaration) + plain;
}

}  // namespace

const std::string& FunctionNames::Of(Dwarf_Die& function) {
  Dwarf_Die named = function;
  if (dwarf_tag(&named) == DW_TAG_inlined_subroutine) Follow(named, DW_AT_abstract_origin);
  const auto [at, fresh] = names_.try_emplace(named.addr);
  if (fresh) at->second = NameOf(named);
  return at->second;
}

}  // namespace memprof
