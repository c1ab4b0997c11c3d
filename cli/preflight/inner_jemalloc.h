// Finds the functions of a jemalloc that is linked into an executable, by the symbol table.
// aggregator/hooks/inner_jemalloc.h describes how the tracker hooks them.
//
// It is recognised by a symbol PREFIXmallctl (PREFIX: "", "je_", "_rjem_" …) together with
// PREFIXmallocx and PREFIXdallocx. If the file has all its symbols, it must also have the function
// behind mallctl("experimental.hooks.install"), which came with 5.2.0 and is not in releases after
// 5.3.1.
//
// jemalloc's own code is found as runs of adjacent functions. Each function of a run is known by
// its name or, if local, by its source file. If there are more runs than fit, the largest are
// taken; frames in the others stay in the stacks.
//
// Cost: without such a symbol, a search through the bytes of the names (3 ms in 30 MB); with it,
// five passes over the symbols. A supervisor asks InnerJemallocCache about each executed program.
#pragma once

#include <libelf.h>

#include <string>
#include <vector>

#include "core/protocol/region_layout.h"

namespace memprof {

// mallctl is 0 if there is none that can be hooked. If there are several, returns the first.
InnerJemalloc ReadInnerJemalloc(Elf* elf);

// The code of all jemalloc functions that are known by their names, of any version, hookable or
// not; ascending, without overlaps.
std::vector<CodeRange> JemallocCode(Elf* elf);

// The environment variable from which the jemalloc in this file takes its options (MALLOC_CONF,
// JE_MALLOC_CONF, _RJEM_MALLOC_CONF). It is found among the file's strings, also in a stripped
// file. Empty: there is none.
std::string OptionsVariable(Elf* elf);

}  // namespace memprof
