// The part of the region that is about mappings: what the program mapped itself (mmap, mremap,
// brk), a category of its own, never in the heap's totals; and what the allocator last said of
// itself.
//
//   kMappingSites   MappingSiteRecord  figures by (site, kind, reserved, file)
//   kMappedFiles    MappedFileRecord   the files that mappings are of, each once
//   kMappings       MappingRecord      one call's mapping, as long as a byte of it is left
//   kMappedRanges   MappedRange        what is mapped now: a skip list by address
//
// Thread safety: written by who has the right to book (aggregator/mappings/mapping_queue.h), one
// thread at a time, within an odd MappingTotals.sequence.
//
// Everything here is freestanding, as region_layout.h, which includes it.
#pragma once

#include <atomic>
#include <cstdint>

namespace memprof {

enum class MappingKind : uint32_t {
  kAnonymous,
  kShared,  // anonymous, of several processes
  kFile,
  kBreak,  // brk and sbrk
};
inline constexpr uint32_t kMappingKinds = 4;

// What tells mappings of one stack apart.
struct MappingWhat {
  MappingKind kind = MappingKind::kAnonymous;
  bool reserved = false;  // address space only: PROT_NONE, or MAP_NORESERVE and never protected
                          // otherwise since
  uint32_t file_plus_one = 0;  // in kMappedFiles; 0: none, or not known
  friend bool operator==(const MappingWhat&, const MappingWhat&) = default;
};
inline constexpr uint32_t Pack(const MappingWhat& what) {
  return static_cast<uint32_t>(what.kind) | uint32_t{what.reserved} << 2 | what.file_plus_one << 3;
}
inline constexpr MappingWhat UnpackMappingWhat(uint32_t word) {
  return {static_cast<MappingKind>(word & 3), (word >> 2 & 1) != 0, word >> 3};
}

struct alignas(64) MappingSiteRecord {
  std::atomic<uint32_t> site_plus_one;  // in kSites; released last
  uint32_t what;                        // MappingWhat
  std::atomic<uint64_t> live_bytes;
  std::atomic<uint64_t> live_count;  // mappings of which a byte is left
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
  std::atomic<uint32_t> site_plus_one;  // in kMappingSites; 0: unused
  uint32_t ranges;                      // of kMappedRanges that are its; unused: the next such
};
static_assert(sizeof(MappingRecord) == 8);

inline constexpr uint32_t kRangeLevels = 12;
struct MappedRange {
  std::atomic<uint64_t> start;
  std::atomic<uint64_t> end;
  uint64_t stamp;                          // of the event that it came with
  std::atomic<uint32_t> mapping_plus_one;  // in kMappings; 0: unused
  uint32_t height;                         // levels of the list that it is on
  uint32_t next[kRangeLevels];             // index + 1, by level; 0: none
};
static_assert(sizeof(MappedRange) == 80);

// Reading the peak: while armed every row is live; else peak_* where epoch == site.epoch, else
// live.
struct MappingTotals {
  std::atomic<uint32_t> sequence;  // odd while an event is booked
  std::atomic<uint32_t> armed;     // mapped_bytes is at its maximum now
  std::atomic<uint64_t> epoch;
  std::atomic<uint64_t> mapped_bytes;  // without what is only reserved
  std::atomic<uint64_t> peak_bytes;
  std::atomic<uint64_t> events;  // that are to be booked
  std::atomic<uint64_t> booked;
  std::atomic<uint64_t> lost;       // … for which the tables had no room
  std::atomic<uint64_t> unentered;  // … for which there was no room before they could be booked
};

// What the allocator says of itself.
enum class AllocatorProvider : uint32_t { kNone, kGlibc, kJemalloc, kTcmalloc, kMimalloc };
inline constexpr uint32_t kAllocatorProviders = 5;
inline constexpr uint64_t kUnknownBytes = ~uint64_t{0};

struct AllocatorFigures {
  std::atomic<uint32_t> sequence;  // odd while it is written; 0: never was
  std::atomic<uint32_t> provider;  // AllocatorProvider
  std::atomic<uint64_t> time_ns;   // since the tracker came
  // Each may be kUnknownBytes.
  std::atomic<uint64_t> allocated_bytes;  // given out, with what it rounded up; without caches'
  std::atomic<uint64_t> cached_bytes;     // in caches of threads
  std::atomic<uint64_t> free_bytes;       // free blocks and pages that it keeps
  std::atomic<uint64_t> metadata_bytes;
  std::atomic<uint64_t> live_bytes;  // as the tracker has them, when that was said
};

}  // namespace memprof
