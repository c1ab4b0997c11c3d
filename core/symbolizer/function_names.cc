#include "core/symbolizer/function_names.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "core/symbolizer/demangle.h"
#include "core/symbolizer/dies.h"

namespace memprof {
namespace {

// A string attribute, through DW_AT_abstract_origin and DW_AT_specification; nullptr: none.
const char* NameOfDie(Dwarf_Die& die, unsigned name) {
  Dwarf_Attribute attribute;
  if (dwarf_attr_integrate(&die, name, &attribute) == nullptr) return nullptr;
  const char* text = dwarf_formstring(&attribute);
  return text != nullptr && *text != 0 ? text : nullptr;
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

bool IsCxx(Dwarf_Die& unit) {
  switch (dwarf_srclang(&unit)) {
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
      return true;
    default:
      return false;
  }
}

// clang counts the lambdas of a file in the names that only this file sees: "main::$_2". That
// number is another one in another build.
bool HasNumberedScope(std::string_view name) {
  for (size_t at = 0; (at = name.find("$_", at)) != name.npos; at += 2) {
    if (at + 2 < name.size() && name[at + 2] >= '0' && name[at + 2] <= '9') return true;
  }
  return false;
}

// Constructors, destructors and conversions have no type.
bool HasReturnType(std::string_view plain, const std::string& scopes) {
  if (plain.starts_with('~') || plain.starts_with("operator ")) return false;
  std::string_view scope = scopes;
  if (!scope.ends_with("::")) return true;
  scope.remove_suffix(2);
  scope = scope.substr(0, scope.find('<'));
  const size_t last = scope.rfind("::");
  return (last == scope.npos ? scope : scope.substr(last + 2)) != plain.substr(0, plain.find('<'));
}

// -g1 and -gline-tables-only leave only the bare name. If the function has code of its own, the
// symbol table may have the mangled name.
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
    Dwarf_Die declaration = WithOrigins(named).back();
    if (dwarf_tag(&function) == DW_TAG_subprogram && !HasTypes(declaration)) {
      at->second = FromSymbol(named, at->second, symbols_);
    }
  }
  return at->second;
}

// The mangled name has namespaces and arguments. A linkage name that isn't mangled is an assembler
// label ("__GI_abort" in libc); the plain name is then the one that the author wrote. gcc gives no
// linkage name to functions that only one file sees: those in anonymous namespaces, and templates
// of such.
std::string FunctionNames::NameOf(Dwarf_Die& function, int level) {
  Dwarf_Die declaration = WithOrigins(function).back();
  const char* linkage = NameOfDie(function, DW_AT_linkage_name);
  if (linkage == nullptr) linkage = NameOfDie(function, DW_AT_MIPS_linkage_name);
  if (linkage != nullptr) {
    std::string demangled = Demangle(linkage);
    if (demangled != linkage && (!HasNumberedScope(demangled) || !HasTypes(declaration))) {
      return demangled;
    }
  }
  const char* plain = NameOfDie(function, DW_AT_name);
  if (plain == nullptr) return linkage != nullptr ? linkage : "[unnamed]";
  return level > TypeNames::kDeepest ? plain : FromDeclaration(function, declaration, plain, level);
}

// "a::B::plain(int)" for a function declared there.
std::string FunctionNames::FromDeclaration(Dwarf_Die& function, Dwarf_Die& declaration,
                                           const std::string& plain, int level) {
  Dwarf_Die unit;
  if (dwarf_diecu(&declaration, &unit, nullptr, nullptr) == nullptr || !HasNamespaces(unit)) {
    return plain;
  }
  std::vector<Dwarf_Die> parents = parents_.Of(declaration);
  // Without a linkage name the function is extern "C": the namespace is no part of its name.
  const bool only_namespaces = std::all_of(parents.begin(), parents.end(), [](Dwarf_Die scope) {
    return dwarf_tag(&scope) == DW_TAG_namespace;
  });
  if (only_namespaces && HasFlag(declaration, DW_AT_external)) return plain;
  const std::string scopes = ScopesOf(declaration, level);
  if (!IsCxx(unit) || !HasTypes(declaration)) return scopes + plain;
  std::string arguments = types_.TemplateArguments(function, level + 1);
  if (arguments.empty()) arguments = types_.TemplateArguments(declaration, level + 1);
  std::string name = scopes;
  if (!arguments.empty() && plain.back() == '>' && !plain.starts_with("operator ")) {
    const size_t open = plain.find('<', plain.starts_with("operator<<")  ? 10
                                        : plain.starts_with("operator<") ? 9
                                                                         : 0);
    // What a lambda returns is worked out, so its name has no type.
    const bool of_lambda = !parents.empty() && IsLambda(parents.back());
    if (of_lambda) {
      name = "auto " + scopes;
    } else if (HasReturnType(plain, scopes)) {
      name = types_.TypeOf(declaration, level + 1) + " " + scopes;
    }
    name += plain.substr(0, open) + arguments;
  } else {
    name += plain;
  }
  return name + types_.Parameters(function, level + 1);
}

// "a::B::" of what is declared there.
std::string FunctionNames::ScopesOf(Dwarf_Die& declaration, int level) {
  if (level > TypeNames::kDeepest) return {};
  std::string scopes;
  for (Dwarf_Die& scope : parents_.Of(declaration)) {
    const char* name = NameOfDie(scope, DW_AT_name);
    switch (dwarf_tag(&scope)) {
      case DW_TAG_subprogram:
        // The DIE brings its own scopes: it may be declared in another place than where it stands.
        scopes = NameOf(scope, level + 1) + "::";
        break;
      case DW_TAG_namespace:
        scopes += (name != nullptr ? std::string(name) : "(anonymous namespace)") + "::";
        break;
      case DW_TAG_class_type:
      case DW_TAG_structure_type:
      case DW_TAG_union_type:
        scopes += types_.ClassName(scope, level + 1) + "::";
        break;
      case DW_TAG_module:
        if (name != nullptr) scopes += std::string(name) + "::";
        break;
      default:
        break;
    }
  }
  return scopes;
}

// -g1 and -gline-tables-only leave no types, and no parameters.
bool FunctionNames::HasTypes(Dwarf_Die& declaration) {
  Dwarf_Die unit;
  if (dwarf_diecu(&declaration, &unit, nullptr, nullptr) == nullptr) return false;
  const auto [at, fresh] = units_with_types_.try_emplace(unit.addr, false);
  Dwarf_Die child;
  if (!fresh || dwarf_child(&unit, &child) != 0) return at->second;
  do {
    switch (dwarf_tag(&child)) {
      case DW_TAG_base_type:
      case DW_TAG_class_type:
      case DW_TAG_structure_type:
      case DW_TAG_pointer_type:
      case DW_TAG_imported_unit:
        at->second = true;
        break;
      default:
        break;
    }
  } while (!at->second && dwarf_siblingof(&child, &child) == 0);
  return at->second;
}

}  // namespace memprof
