// MappingEvent: a thread's change of the address space, for the thread that books it
// (mapping_queue.h).
//
// Events are booked in another order than the kernel saw them; stamps make that harmless. An event
// takes its stamp before the system call for the part that it takes away, and after it for the part
// that it maps. If one thread gives back a range and another one gets it, the new mapping's stamp
// is therefore always the later one:
//
//   thread 1   stamp 3, munmap(X) ───────────────────────── enters "unmap X, 3"
//   thread 2               mmap gives X, stamp 5, enters "map X, 5"
//
// Booked in this order, "map X, 5" takes the place of what was at X. "unmap X, 3" then finds only a
// range newer than itself, which it leaves alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/protocol/region_layout.h"

namespace memprof {

inline constexpr size_t kMappedFileBytes = 184;  // the last bytes of a path are kept

struct MappingEvent {
  enum class Kind : uint32_t {
    kMap,      // [start, end) is mapped, and replaces what was there
    kUnmap,    // [from, from_end) is gone
    kMove,     // mremap: both. The mapped range has the content that was at `from`
    kProtect,  // [from, from_end) becomes reserved (`what`), or stops being so
  };
  Kind kind = Kind::kMap;
  MappingWhat what = {};    // its file is set when it is booked, from `file` below
  uint64_t from = 0;        // the range that is taken away, or protected
  uint64_t from_end = 0;    // equals `from` if mremap leaves the old mapping in place
  uint64_t from_stamp = 0;  // taken before the call
  uint64_t start = 0;       // the range that is mapped
  uint64_t end = 0;
  uint64_t stamp = 0;  // taken after the call
  uint32_t site = 0;   // in kSites, for the mapped range
  uint32_t file_bytes = 0;
  char file[kMappedFileBytes] = {};  // the name, not ended by a 0
};

}  // namespace memprof
