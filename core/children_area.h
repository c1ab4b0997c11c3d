// The children's area: shared memory in which forked children count, since a child may not be able
// to ask anybody for a region: it may be forbidden to open a socket, have given up its descriptors,
// its root or its privileges. Every process that is followed has it mapped before it forks.
//
//   page 0 …       ChildrenHeader, with a claim a slot
//   first_offset   slot 0: a guard page, then a region (core/region_layout.h); slot 1: …
//
// A slot's life
//   free      owner == 0; all of its memory is a hole
//   claimed   a child exchanged 0 for its pid: the slot is its own. It makes the guard page of its
//             mapping inaccessible, lays out the region, and releases the region's state.
//   dead      the process has ended or executed something else; the supervisor reads the region,
//             gives its memory back, counts `generation` up and releases owner = 0.
//
// Invariant: a slot is written by the one process that claimed it, and after its end by the
// supervisor alone. So no process ever waits for another one.
//
// Who has which slot, the supervisor doesn't believe the claim: the guard page is in the kernel's
// list of the process's mappings (/proc/PID/maps). It also tells children of another pid namespace,
// and those that may not ask for their pid.
//
// Freestanding, as region_layout.h.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/region_layout.h"

namespace memprof {

inline constexpr uint64_t kChildrenMagic = 0x314c4843504d454dull;  // "MEMPCHL1" as bytes
inline constexpr uint32_t kMaxChildSlots = 1024;
inline constexpr uint64_t kChildRegionBudget = 64ull << 20;  // of address space
inline constexpr uint32_t kUnknownPid = 0xffffffffu;         // the child may not ask for it

// An image of a process: which one forked a child. The supervisor numbers those that it welcomes
// (core/handshake.h); a forked child's follows from its slot.
using ImageId = uint64_t;
inline constexpr ImageId ImageOfSlot(uint32_t slot, uint32_t generation) {
  return uint64_t{1} << 63 | uint64_t{generation} << 32 | slot;
}

struct alignas(32) ChildClaim {
  std::atomic<uint32_t> owner;       // 0: free; else the child's pid as it sees itself
  std::atomic<uint32_t> generation;  // of the slot's use; the supervisor's
  // Written by the child before the region's state.
  ImageId parent;
  uint32_t foreign_pids;  // 1: its namespace of pids isn't the supervisor's
  uint32_t reserved_0;
  uint64_t reserved_1;
};
static_assert(sizeof(ChildClaim) == 32);

struct ChildrenHeader {
  uint64_t magic;
  uint32_t region_version;  // kRegionVersion
  uint32_t slots;           // at most kMaxChildSlots
  uint64_t slot_bytes;      // guard page and region
  uint64_t first_offset;
  std::atomic<uint32_t> next;  // where a child begins to look for a free slot
  std::atomic<uint32_t> reserved;
  std::atomic<uint64_t> claimed;  // children that got a slot, ever
  std::atomic<uint64_t> refused;  // … that found none free, or couldn't use it
  alignas(64) ChildClaim claims[kMaxChildSlots];
};

inline constexpr uint64_t kChildrenHeaderBytes =
    (sizeof(ChildrenHeader) + kPageBytes - 1) / kPageBytes * kPageBytes;

// Fills the header (all zero) for so many children at once and returns the area's size.
inline uint64_t LayOutChildren(ChildrenHeader& header, uint32_t children) {
  RegionHeader region = {};
  header.magic = kChildrenMagic;
  header.region_version = kRegionVersion;
  header.slots = children < kMaxChildSlots ? children : kMaxChildSlots;
  header.slot_bytes = kPageBytes + LayOutRegion(region, kChildRegionBudget);
  header.first_offset = kChildrenHeaderBytes;
  return header.first_offset + header.slots * header.slot_bytes;
}

// Of a slot's guard page; its region is a page further.
inline uint64_t OffsetOfSlot(const ChildrenHeader& header, uint32_t slot) {
  return header.first_offset + slot * header.slot_bytes;
}

}  // namespace memprof
