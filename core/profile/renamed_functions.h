// RenamedFunctions: pairs functions that a change renamed, moved or gave another signature, so that a
// comparison shows one row that changed, and not one that is gone beside a new one.
//
// Only functions that one of the two profiles lacks are paired. Two are a pair if
//   - most of their allocations come through the same callers, and
//   - their names without scopes and parameters are equal ("moved" or "re-signed"), or else what is
//     allocated below them is within a tenth, in bytes and in blocks, and mostly through the same
//     functions ("renamed"),
// and if no other function fits either of them nearly as well. A renamed caller counts as the same
// caller once it is paired.
//
// Thread safety: pure. Memory: some hundred bytes for each edge of the two call graphs that leads to
// such a function.
#pragma once

#include <string>
#include <vector>

#include "core/profile/profile.h"
#include "core/profile/symbol_key.h"

namespace memprof {

struct RenamedFunction {
  SymbolKey before, after;
  std::string function;     // as the later profile names it, with clone suffix
  std::string module_path;  // the later module
  friend bool operator==(const RenamedFunction&, const RenamedFunction&) = default;
};

// In the order of the names before.
std::vector<RenamedFunction> FindRenamedFunctions(const Profile& before, const Profile& after);

// Gives the functions of the earlier profile their later names. No figure changes.
void ApplyLaterNames(const std::vector<RenamedFunction>& renamed, Profile& before);

// "f(int) is now g(int); … (paired by callers and size)", with the modules if they differ. The first
// few functions are named. Empty: there are none.
std::string RenamedNote(const std::vector<RenamedFunction>& renamed);

}  // namespace memprof
