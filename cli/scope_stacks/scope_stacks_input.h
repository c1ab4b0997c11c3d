// ScopeStacksInput: the stacks of a scope. The headers in a program pass them to `memprof
// scope-stacks` on stdin when a test exceeds a limit. JSON:
//
//   {"schema": 1,
//    "unit": "bytes",                      the order: "bytes" or "blocks"
//    "leaks": true,                        never freed: what runtimes keep is no leak
//    "net": true,                          optional: the leak of a place is what it gained
//    "except": "testing::",                allocations of this namespace, or in
//    "except_library": "libgtest",         this library, are shown apart
//    "modules": [{"path": "/x/test", "build_id": "ab12"}, …],
//    "stacks": [{"bytes": 10, "blocks": 1, "frames": [[0, 4660], [-1, 139637976793088]]}, …]}
//
// A frame is a module's index and the return address in the file's own terms, innermost first.
// Index -1 means that no module has the address. A negative figure means that the stack lost
// memory.
//
// Thread safety: pure. Failure: kUnreadable, with the reason.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/snapshot/snapshot.h"

namespace memprof {

struct ScopeStacksInput {
  // Each site is a stack. Its figures are `weights`. The snapshot has them too, for the rules of
  // what a runtime keeps, with 0 for negative ones.
  Snapshot snapshot;
  struct Weight {
    int64_t bytes = 0;
    int64_t blocks = 0;
  };
  std::vector<Weight> weights;  // parallel to the snapshot's sites
  bool by_blocks = false;
  bool leaks = false;
  bool net = false;
  std::string except;          // empty: none
  std::string except_library;  // likewise; "libgtest" is libgtest.so.1.12.1
};

Result<ScopeStacksInput> ReadScopeStacks(std::string_view json);

}  // namespace memprof
