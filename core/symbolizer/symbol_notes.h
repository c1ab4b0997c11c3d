// Notes for people on modules that could not be resolved in full: what is missing, and how to get
// it.
//
// Thread safety: pure.
#pragma once

#include <string>

#include "core/snapshot/snapshot.h"
#include "core/symbolizer/module_symbols.h"

namespace memprof {

// True if installing a package might help.
bool IsInPackages(Lack lack);

// "MODULE: what is missing; how to get it", in one line. Empty if there is nothing to say, as for
// memprof's own libraries: nobody has to do anything about them. `package` is the one that has the
// debug info, or empty.
std::string SymbolNote(const SnapshotModule& module, Lack lack, const LackDetails& details,
                       const std::string& package);

}  // namespace memprof
