// SitePattern: which sites of a profile a rule of a budget is about.
//
// Every key that is given has to match, and of a key's patterns one. Those of frames (function,
// namespace, source, module) have to match in one and the same frame:
//
//   Where::kAny      any frame of the stack: all that was allocated below the function
//   Where::kPlace    the place alone that reports name (core/profile/location.h)
//
// A function is compared with its name as reports show it and without parameters, return type and
// the marks of clones; a namespace with every scope that the function lies in; a module by its
// path's last components, and without a library's version ("libz.so", "[program]").
//
// Thread safety: pure.
#pragma once

#include <string>
#include <vector>

#include "core/budget/pattern.h"
#include "core/profile/profile.h"

namespace memprof {

enum class Where { kAny, kPlace };

struct SitePattern {
  std::vector<Pattern> functions, namespaces, sources, modules, threads;
  Where where = Where::kAny;
};

bool IsEmpty(const SitePattern& pattern);
// A function's, a namespace's or a source file's, which only symbols have.
bool IsOfNames(const SitePattern& pattern);
// Most of the program's own frames have no name: nothing can match them, or be compared.
bool LacksNames(const Profile& profile);

// "function parse_*, thread worker".
std::string Describe(const SitePattern& pattern);

// Parallel to the profile's sites.
std::vector<bool> MatchingSites(const Profile& profile, const SitePattern& pattern);

}  // namespace memprof
