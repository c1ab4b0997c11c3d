// The C++ types of a site's blocks, by what they say themselves: an object with virtual functions
// begins with a pointer to its vtable, and the word before that one points to type information:
//
//   block:  vtable ─► … [type information] [functions …]
//                              └─► [vtable of its own] [name] ─► "N2db7SessionE"
//
// No symbol tables are needed, so it works with stripped programs, too; not with those that were
// compiled without RTTI.
//
// Thread safety: pure. Failure: what doesn't look so has no type.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/inspect/heap_graph.h"
#include "core/inspect/live_blocks.h"
#include "core/inspect/memory_source.h"

namespace memprof {

// By number of a site: the mangled name of the type that at least three of four blocks looked at are
// objects of; empty: there is none. `number_of` gives each block's number, below `sites`. `files` reads
// what is mapped from files; vtables, type information and names lie in `modules`, by address and
// disjoint.
std::vector<std::string> FindObjectTypes(const MemorySource& memory, const MemorySource& files,
                                         const std::vector<AddressRange>& modules,
                                         const std::vector<LiveBlock>& blocks, uint32_t sites,
                                         const std::function<uint32_t(uint32_t block)>& number_of);

}  // namespace memprof
