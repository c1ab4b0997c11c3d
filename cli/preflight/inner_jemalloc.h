// A jemalloc that is linked into an executable: where its functions are, by the symbol table. What
// the tracker does with it: aggregator/hooks/inner_jemalloc.h.
//
// It is known by a symbol PREFIXmallctl (PREFIX: "", "je_", "_rjem_" …) with PREFIXmallocx and
// PREFIXdallocx beside it. Where the file has all its symbols, it must have the function behind
// mallctl("experimental.hooks.install") too, which 5.2.0 brought and releases after 5.3.1 don't
// have.
//
// jemalloc's own code is found as runs of functions that lie together, of which each is known by
// its name or by the source file that it is a local function of. Where there are more runs than
// fit, the largest are taken; a frame in one that is left out stays in the stacks.
//
// Cost: without such a symbol a search through the bytes of the names (3 ms in 30 MB), else five
// passes over the symbols. What a supervisor asks for each executed program: InnerJemallocCache.
#pragma once

#include <libelf.h>

#include <string>
#include <vector>

#include "core/protocol/region_layout.h"

namespace memprof {

// mallctl 0: there is none that can be hooked. If there are several, the first.
InnerJemalloc ReadInnerJemalloc(Elf* elf);

// The code of all jemalloc functions that are known by their names, of any version, whether they
// can be hooked or not; ascending, without overlaps.
std::vector<CodeRange> JemallocCode(Elf* elf);

// The environment variable that the jemalloc in this file takes its options from: what its strings
// say, also in a stripped file (MALLOC_CONF, JE_MALLOC_CONF, _RJEM_MALLOC_CONF). Empty: there is
// none.
std::string OptionsVariable(Elf* elf);

}  // namespace memprof
