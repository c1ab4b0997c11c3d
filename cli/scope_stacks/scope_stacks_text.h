// ScopeStacksText: the stacks behind a figure, as a test's failure shows them: the few heaviest,
// from the function that allocated out to the test's body.
//
//   20.0 MiB in 2 blocks, 66.7%
//     Parse(std::string const&)        src/parser.cc:20
//     Parser_Big_Test::TestBody()      tests/parser_test.cc:8
//   10.0 MiB in 40 blocks at 3 other places
//
// Frames that explain nothing are left out: the allocator's, the C++ library's, inlined std::
// functions, and GoogleTest's callers of the test's body. Two kinds of allocations are not shown as
// places; only their sums are given: those of the namespace `except` (or its library), and for
// leaks those that runtimes keep by design.
//
// With `net` a leak is what a place gained, whichever stacks lead to it. A place is the function that
// a report names: a cache that replaces an entry frees a block of the function that allocates the new
// one. Places that gained nothing aren't shown.
//
// Invariant: the lines' figures and the two sums add up to all stacks; with `net` to those of the
// places that gained.
// Thread safety: pure.
#pragma once

#include <string>

#include "cli/scope_stacks/scope_stacks_input.h"
#include "core/profile/profile.h"

namespace memprof {

struct ScopeStacksReport {
  ScopeStacksInput::Weight excepted;  // the sum of the excepted namespace or library
  ScopeStacksInput::Weight kept;      // for leaks: the sum kept by design by a runtime
  ScopeStacksInput::Weight leaked;    // with `net`: what places gained, without these two
  std::string text;                   // lines, each with its line break
};

// Pre: `profile` was made of the input's snapshot.
ScopeStacksReport ReportScopeStacks(const ScopeStacksInput& input, const Profile& profile);

}  // namespace memprof
