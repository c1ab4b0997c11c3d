// RootFinder: the memory that a program reaches without a pointer from a live block.
//
//   roots        each thread's registers and its stack from 128 bytes below the stack pointer on, with
//                its thread-local storage; the modules' data; what the program mapped itself; with
//                glibc's allocator all other anonymous memory too. A variable of a module that may
//                point to a block is a root of its own
//   not roots    the heap and the allocator's other memory and data, main_arena in libc's data; the
//                tracker's memory, its module's data and its thread-local state; the rest of stacks,
//                stacks of ended threads; shared mappings
//
// Ranges of bytes are taken and left out, not whole mappings: the kernel joins neighbours.
//
// Thread safety: pure but for the source.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/inspect/address_space.h"
#include "cli/inspect/frozen_copy.h"
#include "core/inspect/heap_graph.h"
#include "core/inspect/memory_source.h"

namespace memprof {

struct RootFacts {
  std::vector<SpaceMapping> mappings;
  std::vector<SpaceModule> modules;
  std::vector<FrozenThread> threads;
  AddressRange blocks;  // the live blocks lie in it
  // What the program mapped itself and can write, by address.
  std::vector<AddressRange> mapped;
  std::string executable;  // path of the program's module
  std::string program;     // the name by which it was started
  std::string allocator;   // path of the module that defines malloc; empty: libc
  int64_t thread_state = 0;
  uint64_t thread_state_bytes = 0;
};

std::vector<Root> FindRoots(const RootFacts& facts, const MemorySource& memory);

// Where glibc's main_arena is in a range of its data: its lists of free blocks that are empty point to
// themselves. An empty range: it isn't found.
AddressRange FindMainArena(const AddressRange& data, const MemorySource& memory);

}  // namespace memprof
