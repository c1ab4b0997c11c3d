// MappingEvent: what a thread did to the address space, for whoever books it (mapping_queue.h).
//
// Events are booked in another order than the kernel did them in; stamps make that harmless. An
// event takes its stamp before the system call for what it takes away, and after it for what it
// maps. So of a range that one thread gives back and another one gets, the new mapping's stamp is
// always the later one:
//
//   thread 1   stamp 3, munmap(X) ───────────────────────── enters "unmap X, 3"
//   thread 2               mmap gives X, stamp 5, enters "map X, 5"
//
// Booked in this order, "map X, 5" takes the place of what was at X, and "unmap X, 3" finds only
// what is newer than itself, which it leaves alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/protocol/region_layout.h"

namespace memprof {

inline constexpr size_t kMappedFileBytes = 184;  // kept of a path: its end

struct MappingEvent {
  enum class Kind : uint32_t {
    kMap,      // [start, end) is mapped, whatever was there
    kUnmap,    // [from, from_end) is gone
    kMove,     // both: mremap. What is mapped is what was at `from`
    kProtect,  // [from, from_end) is reserved from now on (`what`), or is not
  };
  Kind kind = Kind::kMap;
  MappingWhat what = {};    // of a file: without the file
  uint64_t from = 0;        // what is taken away, or protected
  uint64_t from_end = 0;    // of a mapping that stays where it was moved from: `from`
  uint64_t from_stamp = 0;  // before the call
  uint64_t start = 0;       // what is mapped
  uint64_t end = 0;
  uint64_t stamp = 0;  // after the call
  uint32_t site = 0;   // in kSites, of what is mapped
  uint32_t file_bytes = 0;
  char file[kMappedFileBytes] = {};  // the name, not ended by a 0
};

}  // namespace memprof
