// The children's area: shared memory in which forked children count, since a child may not be able
// to ask anybody for a region: it may be forbidden to open a socket, have given up its descriptors,
// its root or its privileges. Every process that is followed has it mapped before it forks.
//
//   page 0 …       ChildrenHeader, with a claim a slot
//   first_offset   slot 0: a guard page, then a region (core/protocol/region_layout.h); slot 1: …
//
// A slot's life
//   free      owner == 0; all of its memory is a hole
//   claimed   a child exchanged 0 for its pid: the slot is its own. It makes the guard page of its
//             mapping readable, and the region writable, lays out the region, and releases the
//             region's state.
//   dead      the process has ended or executed something else; the supervisor reads the region,
//             gives its memory back, counts `generation` up and releases owner = 0.
//
// Invariant: a slot is written by the one process that claimed it, and after its end by the
// supervisor alone. So no process ever waits for another one.
//
// Who has which slot, the supervisor doesn't believe the claim: the guard page is in the kernel's
// list of the process's mappings (/proc/PID/maps). It also tells children of another pid namespace,
// and those that may not ask for their pid. A child has its parent's guard until it claims a slot:
// of several processes that have it the first one is the owner.
//
// Freestanding, as region_layout.h.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/protocol/region_layout.h"

namespace memprof {

inline constexpr uint64_t kChildrenMagic = 0x324c4843504d454dull;  // "MEMPCHL2" as bytes
inline constexpr uint32_t kMaxChildSlots = 1024;
inline constexpr uint64_t kChildRegionBudget = 512ull << 20;   // of address space: as the program's
inline constexpr uint64_t kSmallestChildBudget = 64ull << 20;  // where a limit leaves no more
inline constexpr uint32_t kUnknownPid = 0xffffffffu;           // the child may not ask for it
inline constexpr uint32_t kForeignPid = 0x80000000u;  // with a pid: the supervisor may know another

// An image of a process: which one forked a child. The supervisor numbers those that it welcomes
// (core/protocol/handshake.h); a forked child's follows from its slot.
using ImageId = uint64_t;
inline constexpr ImageId ImageOfSlot(uint32_t slot, uint32_t generation) {
  return uint64_t{1} << 63 | uint64_t{generation} << 32 | slot;
}

// Whether it was made so: of a forked child, and unique in its area only.
inline constexpr bool IsOfSlot(ImageId image) { return (image >> 63) != 0; }

struct alignas(32) ChildClaim {
  std::atomic<uint32_t> owner;  // 0: free; else the child's pid as it sees itself, at once with
                                // whether that is kForeignPid
  std::atomic<uint32_t> generation;  // of the slot's use; the supervisor's
  // Written by the child before the region's state.
  ImageId parent;
  uint64_t reserved[2];
};
static_assert(sizeof(ChildClaim) == 32);

// Where the slots lie. The area is writable to every process that is followed, so who uses it keeps
// a copy: the supervisor that of its making, a tracker what it has checked. What the area says of
// itself is never read again.
struct ChildrenLayout {
  uint32_t region_version = 0;  // kRegionVersion
  uint32_t slots = 0;           // at most kMaxChildSlots
  uint64_t slot_bytes = 0;      // guard page and region
  uint64_t first_offset = 0;
  uint64_t region_budget = 0;  // what slots are laid out for

  // Where a slot's guard page is; its region is a page further.
  uint64_t OffsetOf(uint32_t slot) const { return first_offset + slot * slot_bytes; }
  uint64_t bytes() const { return OffsetOf(slots); }
};

struct ChildrenHeader {
  uint64_t magic;
  ChildrenLayout layout;
  std::atomic<uint32_t> next;  // where a child begins to look for a free slot
  std::atomic<uint32_t> reserved;
  std::atomic<uint64_t> claimed;  // children that got a slot, ever
  std::atomic<uint64_t> refused;  // … that found none free, or couldn't use it
  alignas(64) ChildClaim claims[kMaxChildSlots];
};

inline constexpr uint64_t kChildrenHeaderBytes =
    (sizeof(ChildrenHeader) + kPageBytes - 1) / kPageBytes * kPageBytes;

// For so many children at once.
inline ChildrenLayout LayOutChildren(uint32_t children,
                                     uint64_t region_budget = kChildRegionBudget) {
  RegionHeader region = {};
  const uint64_t budget = region_budget < kChildRegionBudget ? region_budget : kChildRegionBudget;
  return {kRegionVersion, children < kMaxChildSlots ? children : kMaxChildSlots,
          kPageBytes + LayOutRegion(region, budget), kChildrenHeaderBytes, budget};
}

}  // namespace memprof
