// AddressSpace: the mappings of a process with the kernel's flags, from /proc/PID/smaps, and its
// modules.
//
// Thread safety: plain values.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cli/inspect/data_symbols.h"
#include "core/inspect/heap_graph.h"
#include "core/inspect/memory_source.h"

namespace memprof {

struct SpaceMapping {
  AddressRange range;
  uint64_t offset = 0;
  bool readable = false;
  bool writable = false;
  bool shared = false;
  std::string name;  // path, "[heap]", …; empty: anonymous
  // As the tracker maps its own memory: not dumped, not reserved, and told whether its pages are huge.
  bool like_trackers = false;
  bool not_copied = false;  // a fork's child doesn't get it
  bool wiped = false;       // or gets it empty
};

// By address. Empty: it can't be read.
std::vector<SpaceMapping> MappingsOf(pid_t pid);
// The same from the text of smaps.
std::vector<SpaceMapping> ParseMappings(const std::string& smaps);

// Private memory that a copy of the process hasn't got, although the program has data there: what isn't
// among the copy's mappings is added to them. By address.
std::vector<AddressRange> NotInCopy(pid_t process, std::vector<SpaceMapping>& of_copy);

struct SpaceModule {
  std::string path;
  uint64_t begin = 0;                    // of its first mapping
  std::vector<AddressRange> data;        // its writable segments, zero-initialised data included
  std::vector<DataSymbol> symbols = {};  // its variables, if somebody has read them
};

// The ELF files that are mapped. Their headers are read from `memory`.
std::vector<SpaceModule> ModulesOf(const std::vector<SpaceMapping>& mappings,
                                   const MemorySource& memory);

}  // namespace memprof
