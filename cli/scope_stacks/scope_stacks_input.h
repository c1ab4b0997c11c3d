// ScopeStacksInput: the stacks of a scope as the headers in a program hand them to
// `memprof scope-stacks` on stdin, when a limit of a test is exceeded. JSON:
//
//   {"schema": 1,
//    "unit": "bytes",                      by what to order: "bytes" or "blocks"
//    "leaks": true,                        they were never freed: what runtimes keep is no leak
//    "except": "testing::",                what is allocated by this namespace, or in
//    "except_library": "libgtest",         this library, is told apart
//    "modules": [{"path": "/x/test", "build_id": "ab12"}, …],
//    "stacks": [{"bytes": 10, "blocks": 1, "frames": [[0, 4660], [-1, 139637976793088]]}, …]}
//
// A frame is a module's index and the return address in the file's own terms, innermost first; -1:
// no module has the address. What a place lost is negative.
//
// Thread safety: pure. Failure: kUnreadable, with what is wrong.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/snapshot/snapshot.h"

namespace memprof {

struct ScopeStacksInput {
  // A site is a stack. Its figures are `weights`; in the snapshot they are there for the rules of
  // what a runtime keeps, and 0 where they are negative.
  Snapshot snapshot;
  struct Weight {
    int64_t bytes = 0;
    int64_t blocks = 0;
  };
  std::vector<Weight> weights;  // parallel to the snapshot's sites
  bool by_blocks = false;
  bool leaks = false;
  std::string except;          // empty: none
  std::string except_library;  // likewise; "libgtest" is libgtest.so.1.12.1
};

Result<ScopeStacksInput> ReadScopeStacks(std::string_view json);

}  // namespace memprof
