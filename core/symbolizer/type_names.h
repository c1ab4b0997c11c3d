// TypeNames: a type of the debug info as the demangler writes it, so that a function has one name
// whether it comes from a mangled name or from the debug info alone.
//
//   pointer ─► const ─► char                    char const*
//   reference ─► vector<long unsigned int, …>   std::vector<unsigned long, …>&
//   the second lambda with an int in main       main::{lambda(int)#2}
//
// Thread safety: none. Ownership: the Dwarf and the parents must outlive it.
// Failure: never. A part that is missing, nested too deeply or too long is written as "?".
#pragma once

#include <elfutils/libdw.h>

#include <functional>
#include <string>
#include <unordered_map>

#include "core/symbolizer/die_parents.h"

namespace memprof {

class TypeNames {
 public:
  // Returns the names of the scopes around a DIE, "a::B::". `level` counts the recursion.
  using ScopesOf = std::function<std::string(Dwarf_Die& die, int level)>;

  static constexpr int kDeepest = 40;  // the recursion's end, wherever it begins

  TypeNames(DieParents& parents, ScopesOf scopes_of)
      : parents_(parents), scopes_of_(std::move(scopes_of)) {}

  // The name of a class without its scopes: "vector<int, std::allocator<int> >", "{lambda(int)#1}",
  // "{unnamed}".
  std::string ClassName(Dwarf_Die& type, int level);

  // "(int, char const*) const" of a DW_TAG_subprogram.
  std::string Parameters(Dwarf_Die& function, int level);

  // "<int, 3ul>" of a class or a function; empty: the debug info has none.
  std::string TemplateArguments(Dwarf_Die& die, int level);

  // The type that DW_AT_type of `die` names; "void" without one.
  std::string TypeOf(Dwarf_Die& die, int level);

 private:
  std::string Written(Dwarf_Die& type, const std::string& declarator, int level);
  std::string Target(Dwarf_Die& die, const std::string& declarator, int level);
  std::string ParameterList(Dwarf_Die& function, int level);
  std::string LambdaName(Dwarf_Die& lambda, int level);
  std::string LambdaSignature(Dwarf_Die& lambda, int level);

  DieParents& parents_;
  ScopesOf scopes_of_;
  std::unordered_map<void*, std::string> lambdas_;  // by the DIE's place in memory
};

// A class of the compiler's for a lambda expression.
bool IsLambda(Dwarf_Die& type);

}  // namespace memprof
