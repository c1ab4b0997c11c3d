// Where the program's resident memory was, as it was measured from outside at some moments, and
// what the allocator said of itself.
//
// Units: bytes, and milliseconds after the program's start. Thread safety: plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/protocol/mapping_layout.h"

namespace memprof {

inline constexpr size_t kMaxMemorySamples = 64;

// What the allocator said last, which may be some time before the sample.
struct AllocatorSample {
  AllocatorProvider provider = AllocatorProvider::kNone;  // kNone: it said nothing
  uint64_t time_ms = 0;
  // As AllocatorFigures; none: not known.
  std::optional<uint64_t> allocated_bytes, cached_bytes, free_bytes, metadata_bytes;
  std::optional<uint64_t> live_bytes;  // requested and not freed by then, as the tracker has them
  friend bool operator==(const AllocatorSample&, const AllocatorSample&) = default;
};

// Resident bytes, each page in one of them.
struct MemorySample {
  uint64_t time_ms = 0;
  uint64_t rss_bytes = 0;          // the whole: the sum of the kernel's list of mappings
  uint64_t anonymous_bytes = 0;    // of no file and none of those below: the allocator's
  uint64_t mapped_bytes = 0;       // what the program mapped itself
  uint64_t mapped_file_bytes = 0;  // files that it mapped itself
  uint64_t file_bytes = 0;         // other files: the program and its libraries
  uint64_t stack_bytes = 0;        // of all threads that are known
  uint64_t tracker_bytes = 0;      // memprof's own
  uint64_t live_bytes = 0;         // requested and not freed, resident or not
  AllocatorSample allocator = {};
  friend bool operator==(const MemorySample&, const MemorySample&) = default;
};

struct MemoryRecord {
  std::vector<MemorySample> samples;  // by time; at most kMaxMemorySamples
  AllocatorSample last_said = {};     // what the allocator said last, as the program ended perhaps
  friend bool operator==(const MemoryRecord&, const MemoryRecord&) = default;
};

// A part of what is resident, with its name; it is negative where the ones before are too much.
struct MemoryPart {
  std::string name;     // as a key: "live", "rounding"
  std::string meaning;  // for people
  int64_t bytes = 0;
};

// Invariant: the parts sum to the sample's rss_bytes.
std::vector<MemoryPart> PartsOf(const MemorySample& sample);

// The sample of the highest RSS, of equal ones the first; nullptr: there is none.
const MemorySample* HighestOf(const MemoryRecord& record);

const char* NameOf(AllocatorProvider provider);

}  // namespace memprof
