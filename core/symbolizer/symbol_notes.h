// What is said of a module that could not be resolved in full: what lacks, and how to get it.
//
// Thread safety: pure.
#pragma once

#include <string>

#include "core/snapshot/snapshot.h"
#include "core/symbolizer/module_symbols.h"

namespace memprof {

// Whether a package might bring what lacks.
bool IsInPackages(Lack lack);

// "MODULE: what lacks; how to get it", in one line; empty: nothing to say, as of memprof's own
// libraries: nobody has to do anything about them. `package`: one that has
// the debug info, or empty.
std::string SymbolNote(const SnapshotModule& module, Lack lack, const LackDetails& details,
                       const std::string& package);

}  // namespace memprof
