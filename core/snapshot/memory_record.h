// MemoryRecord: where the program's resident memory was, measured from outside at some moments, and
// what the allocator said about itself.
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

// The allocator's last figures; they may be some time older than the sample.
struct AllocatorSample {
  AllocatorProvider provider = AllocatorProvider::kNone;  // kNone: it said nothing
  uint64_t time_ms = 0;
  // As AllocatorFigures; unset: not known.
  std::optional<uint64_t> allocated_bytes, cached_bytes, free_bytes, metadata_bytes;
  std::optional<uint64_t> live_bytes;  // the tracker's live bytes at the time of these figures
  friend bool operator==(const AllocatorSample&, const AllocatorSample&) = default;
};

// Resident bytes; each page is in exactly one part.
struct MemorySample {
  uint64_t time_ms = 0;
  uint64_t rss_bytes = 0;          // the whole, summed over the kernel's list of mappings
  uint64_t anonymous_bytes = 0;    // of no file and in none of the parts below: the allocator's
  uint64_t mapped_bytes = 0;       // what the program mapped itself
  uint64_t mapped_file_bytes = 0;  // files that it mapped itself
  uint64_t file_bytes = 0;         // other files: the program and its libraries
  uint64_t stack_bytes = 0;        // stacks of all known threads
  uint64_t tracker_bytes = 0;      // memprof's own
  uint64_t live_bytes = 0;         // requested and not freed, resident or not
  AllocatorSample allocator = {};
  friend bool operator==(const MemorySample&, const MemorySample&) = default;
};

struct MemoryRecord {
  std::vector<MemorySample> samples;  // by time; at most kMaxMemorySamples
  // the allocator's last figures, perhaps from the program's end
  AllocatorSample last_said = {};
  friend bool operator==(const MemoryRecord&, const MemoryRecord&) = default;
};

// A named part of the resident memory. It is negative if the parts before it exceed the whole.
struct MemoryPart {
  std::string name;     // the key: "live", "rounding"
  std::string meaning;  // for people
  int64_t bytes = 0;
};

// Invariant: the parts sum to the sample's rss_bytes.
std::vector<MemoryPart> PartsOf(const MemorySample& sample);

// The sample with the highest RSS, the first of equal ones; nullptr if there is no sample.
const MemorySample* HighestOf(const MemoryRecord& record);

const char* NameOf(AllocatorProvider provider);

}  // namespace memprof
