// ScopeStacksText: what a test's failure says of the stacks behind a figure: the few heaviest, from
// the function that allocated out to the test's body.
//
//   20.0 MiB in 2 blocks, 66.7%
//     Parse(std::string const&)        src/parser.cc:20
//     Parser_Big_Test::TestBody()      tests/parser_test.cc:8
//   10.0 MiB in 40 blocks at 3 other places
//
// Frames that explain nothing (the allocator's, the C++ library's, inlined std:: functions, what
// GoogleTest calls the test's body through) are left out. Not shown as a place: what the namespace
// `except` (or its library) allocated for itself, and of leaks what runtimes keep by design; their
// sums are given.
//
// Invariant: the lines' figures and the two sums add up to all stacks.
// Thread safety: pure.
#pragma once

#include <string>

#include "cli/scope_stacks/scope_stacks_input.h"
#include "core/profile/profile.h"

namespace memprof {

struct ScopeStacksReport {
  ScopeStacksInput::Weight excepted;  // the namespace's, or its library's
  ScopeStacksInput::Weight kept;      // of leaks: kept by design by a runtime
  std::string text;                   // lines, each with its end
};

// Pre: `profile` is of the input's snapshot.
ScopeStacksReport ReportScopeStacks(const ScopeStacksInput& input, const Profile& profile);

}  // namespace memprof
