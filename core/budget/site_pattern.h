// SitePattern: selects the sites of a profile that a budget's rule applies to.
//
// Every key that is given has to match; a key matches if one of its patterns does. The keys of
// frames (function, namespace, source, module) have to match in the same frame:
//
//   Where::kAny      any frame of the stack: everything that was allocated below the function
//   Where::kPlace    only the place that reports name (core/profile/location.h)
//
// A function is compared by its name as reports show it, and without parameters, return type and
// clone suffixes. A namespace is compared with every scope that encloses the function. A module is
// compared by the last components of its path, and without a library's version ("libz.so",
// "[program]").
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
// True if the pattern has a function, a namespace or a source file. They need symbols.
bool IsOfNames(const SitePattern& pattern);
// True if most of the program's own frames have no name, so that names can't be matched or
// compared.
bool LacksNames(const Profile& profile);

// "function parse_*, thread worker".
std::string Describe(const SitePattern& pattern);

// Returns one flag for each of the profile's sites.
std::vector<bool> MatchingSites(const Profile& profile, const SitePattern& pattern);

}  // namespace memprof
