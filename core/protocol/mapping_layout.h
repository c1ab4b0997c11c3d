// The part of the region for mappings: memory that the program mapped itself (mmap, mremap, brk).
// It is a category of its own, never in the heap's totals. The last figures that the allocator gave
// about itself are here too.
//
//   kMappingSites   MappingSiteRecord  figures by (site, kind, reserved, file)
//   kMappedFiles    MappedFileRecord   the files that are mapped, each once
//   kMappings       MappingRecord      one call's mapping, as long as a byte of it is left
//   kMappedRanges   MappedRange        the ranges mapped now: a skip list by address
//
// Thread safety: written by the thread that has the right to book
// (aggregator/mappings/mapping_queue.h), one thread at a time, within an odd
// MappingTotals.sequence.
//
// Everything here is freestanding, as region_layout.h, which includes it.
#pragma once

#include <atomic>
#include <cstdint>

namespace memprof {

enum class MappingKind : uint32_t {
  kAnonymous,
  kShared,  // anonymous, shared by several processes
  kFile,
  kBreak,  // brk and sbrk
};
inline constexpr uint32_t kMappingKinds = 4;

// Distinguishes mappings that have the same stack.
struct MappingWhat {
  MappingKind kind = MappingKind::kAnonymous;
  // address space only: PROT_NONE, or MAP_NORESERVE and not protected otherwise since
  bool reserved = false;
  uint32_t file_plus_one = 0;  // index in kMappedFiles, plus one; 0: none, or not known
  friend bool operator==(const MappingWhat&, const MappingWhat&) = default;
};
inline constexpr uint32_t Pack(const MappingWhat& what) {
  return static_cast<uint32_t>(what.kind) | uint32_t{what.reserved} << 2 | what.file_plus_one << 3;
}
inline constexpr MappingWhat UnpackMappingWhat(uint32_t word) {
  return {static_cast<MappingKind>(word & 3), (word >> 2 & 1) != 0, word >> 3};
}

struct alignas(64) MappingSiteRecord {
  std::atomic<uint32_t> site_plus_one;  // index in kSites, plus one; released last
  uint32_t what;                        // MappingWhat
  std::atomic<uint64_t> live_bytes;
  std::atomic<uint64_t> live_count;  // mappings of which at least a byte is left
  std::atomic<uint64_t> total_bytes;
  std::atomic<uint64_t> total_count;
  std::atomic<uint64_t> peak_bytes;  // live when `epoch` began
  std::atomic<uint64_t> peak_count;
  std::atomic<uint64_t> epoch;  // of the last change
};
static_assert(sizeof(MappingSiteRecord) == 64);

struct MappedFileRecord {
  std::atomic<uint32_t> path_offset;  // in kStrings
  std::atomic<uint32_t> path_bytes;
};
static_assert(sizeof(MappedFileRecord) == 8);

struct MappingRecord {
  std::atomic<uint32_t> site_plus_one;  // index in kMappingSites, plus one; 0: unused
  // its number of kMappedRanges; if unused: the next unused record
  uint32_t ranges;
};
static_assert(sizeof(MappingRecord) == 8);

inline constexpr uint32_t kRangeLevels = 12;
struct MappedRange {
  std::atomic<uint64_t> start;
  std::atomic<uint64_t> end;
  uint64_t stamp;                          // the stamp of the event that made the range
  std::atomic<uint32_t> mapping_plus_one;  // index in kMappings, plus one; 0: unused
  uint32_t height;                         // number of levels of the skip list that link it
  uint32_t next[kRangeLevels];             // index + 1, by level; 0: none
};
static_assert(sizeof(MappedRange) == 80);

// To read the peak: while armed, every row's peak is its live figure. Else it is peak_* if the
// row's epoch equals MappingTotals.epoch, and live if not.
struct MappingTotals {
  std::atomic<uint32_t> sequence;  // odd while an event is booked
  std::atomic<uint32_t> armed;     // mapped_bytes is at its maximum now
  std::atomic<uint64_t> epoch;
  std::atomic<uint64_t> mapped_bytes;  // without mappings that are only reserved
  std::atomic<uint64_t> peak_bytes;
  std::atomic<uint64_t> events;  // number of events that have to be booked
  std::atomic<uint64_t> booked;
  std::atomic<uint64_t> lost;  // events for which the tables had no room
  // Events that were never booked: the queue was full, or what they changed isn't known.
  std::atomic<uint64_t> unentered;
};

// The figures that the allocator gives about itself.
enum class AllocatorProvider : uint32_t { kNone, kGlibc, kJemalloc, kTcmalloc, kMimalloc };
inline constexpr uint32_t kAllocatorProviders = 5;
inline constexpr uint64_t kUnknownBytes = ~uint64_t{0};

struct AllocatorFigures {
  std::atomic<uint32_t> sequence;  // odd while it is written; 0: never written
  std::atomic<uint32_t> provider;  // AllocatorProvider
  std::atomic<uint64_t> time_ns;   // since the tracker started
  // Each of these may be kUnknownBytes.
  std::atomic<uint64_t> allocated_bytes;  // given out, rounding included, caches excluded
  std::atomic<uint64_t> cached_bytes;     // in the threads' caches
  std::atomic<uint64_t> free_bytes;       // free blocks and pages that the allocator keeps
  std::atomic<uint64_t> metadata_bytes;
  std::atomic<uint64_t> live_bytes;  // the tracker's live bytes at that time
};

}  // namespace memprof
