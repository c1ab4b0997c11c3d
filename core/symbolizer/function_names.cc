#include "core/symbolizer/function_names.h"

#include <dwarf.h>

#include <string_view>

#include "core/symbolizer/demangle.h"

namespace memprof {
namespace {

constexpr int kMostReferences =
    16;  // from a DIE to its origin to its declaration; a loop ends here

// A string attribute, through DW_AT_abstract_origin and DW_AT_specification; nullptr: none.
const char* Text(Dwarf_Die& die, unsigned name) {
  Dwarf_Attribute attribute;
  if (dwarf_attr_integrate(&die, name, &attribute) == nullptr) return nullptr;
  const char* text = dwarf_formstring(&attribute);
  return text != nullptr && *text != 0 ? text : nullptr;
}

bool IsExternal(Dwarf_Die& die) {
  Dwarf_Attribute attribute;
  bool external = false;
  return dwarf_attr_integrate(&die, DW_AT_external, &attribute) != nullptr &&
         dwarf_formflag(&attribute, &external) == 0 && external;
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

// What a DIE around the function `plain` adds to its name; empty: nothing.
std::string ScopeName(Dwarf_Die& scope, std::string_view plain) {
  const char* name = Text(scope, DW_AT_name);
  switch (dwarf_tag(&scope)) {
    case DW_TAG_namespace:
      return name != nullptr ? name : "(anonymous namespace)";
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
      if (name != nullptr) return name;
      return plain.starts_with("operator()") || plain.find("<lambda") != plain.npos ? "{lambda}"
                                                                                    : "{unnamed}";
    case DW_TAG_module:
      return name != nullptr ? name : "";
    default:
      return {};
  }
}

// -g1 and -gline-tables-only leave the bare name; of a function with code of its own the symbol
// table may have the mangled one.
std::string FromSymbol(Dwarf_Die& function, const std::string& name, const SymbolIndex& symbols) {
  const std::string bare = name.substr(0, name.find('<'));
  Dwarf_Die unit;
  Dwarf_Addr low = 0;
  if (bare.find("::") != std::string::npos || dwarf_entrypc(&function, &low) != 0 ||
      dwarf_diecu(&function, &unit, nullptr, nullptr) == nullptr || !HasNamespaces(unit)) {
    return name;
  }
  const std::string symbol = symbols.At(low);
  std::string demangled = Demangle(symbol.c_str());
  return demangled != symbol && demangled.find(bare) != std::string::npos ? demangled : name;
}

}  // namespace

const std::string& FunctionNames::Of(Dwarf_Die& function) {
  Dwarf_Die named = function;
  if (dwarf_tag(&named) == DW_TAG_inlined_subroutine) Follow(named, DW_AT_abstract_origin);
  const auto [at, fresh] = names_.try_emplace(named.addr);
  if (fresh) {
    at->second = NameOf(named, 0);
    if (dwarf_tag(&function) == DW_TAG_subprogram) {
      at->second = FromSymbol(named, at->second, symbols_);
    }
  }
  return at->second;
}

// The mangled name tells namespaces and arguments. A linkage name that isn't mangled is an
// assembler label ("__GI_abort" of libc), and the plain name is what its author wrote. gcc gives no
// linkage name to what only one file sees: anonymous namespaces, and templates of such.
std::string FunctionNames::NameOf(Dwarf_Die& function, int level) {
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
  return level > kMostReferences ? plain : WithScopes(declaration, plain, level);
}

// "a::B::plain" for a function declared there.
std::string FunctionNames::WithScopes(Dwarf_Die& declaration, const char* plain, int level) {
  Dwarf_Die unit;
  if (dwarf_diecu(&declaration, &unit, nullptr, nullptr) == nullptr || !HasNamespaces(unit)) {
    return plain;
  }
  std::string scopes;
  bool only_namespaces = true;
  for (Dwarf_Die& scope : parents_.Of(declaration)) {
    const int tag = dwarf_tag(&scope);
    only_namespaces = only_namespaces && tag == DW_TAG_namespace;
    if (tag == DW_TAG_subprogram) {
      // It brings its own scopes: it may be declared elsewhere than it stands.
      scopes = NameOf(scope, level + 1) + "::";
    } else if (const std::string name = ScopeName(scope, plain); !name.empty()) {
      scopes += name + "::";
    }
  }
  // Without a linkage name it is extern "C": the namespace is no part of its name.
  if (only_namespaces && IsExternal(declaration)) return plain;
  return scopes + plain;
}

}  // namespace memprof
