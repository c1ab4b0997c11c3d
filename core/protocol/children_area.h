// The children's area: shared memory in which forked children count. A child may be unable to ask
// for a region: it may be forbidden to open a socket, or have given up its descriptors, its root or
// its privileges. Every process that is followed has the area mapped before it forks.
//
// A child's slot is the room for a child's region. (A thread's slot is something else.)
//
//   page 0 …       ChildrenHeader, with a claim for each slot
//   first_offset   slot 0: a guard page, then a region (core/protocol/region_layout.h); slot 1: …
//
// A child's slot has this life:
//   free      owner == 0; all of its memory is a hole
//   claimed   a child exchanged 0 for its pid, and the slot is its own. It makes the guard page of
//             its mapping readable and the region writable, lays out the region, and releases the
//             region's state.
//   dead      the process has ended or executed another program. The supervisor reads the region,
//             gives its memory back, increments `generation` and releases owner = 0.
//
// Invariant: a slot is written by the process that claimed it, and after that process's end only by
// the supervisor. So no process ever waits for another one.
//
// The supervisor doesn't trust the claim to tell a slot's owner. It looks for the readable guard
// page in the kernel's list of the process's mappings (/proc/PID/maps). This also identifies
// children in another pid namespace, and children that may not ask for their pid. A child shows its
// parent's guard page until it claims a slot: if several processes show one, the first of them is
// the owner.
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
inline constexpr uint64_t kSmallestChildBudget = 64ull << 20;  // used if a limit allows no more
inline constexpr uint32_t kUnknownPid = 0xffffffffu;           // the child may not ask for it
// flag on a pid: the supervisor may know the process by another
inline constexpr uint32_t kForeignPid = 0x80000000u;

// An image of a process. A child records which image forked it. The supervisor numbers the images
// that it welcomes (core/protocol/handshake.h); a forked child's number follows from its slot.
using ImageId = uint64_t;
inline constexpr ImageId ImageOfSlot(uint32_t slot, uint32_t generation) {
  return uint64_t{1} << 63 | uint64_t{generation} << 32 | slot;
}

// True for the number of a forked child; it is unique only within its area.
inline constexpr bool IsOfSlot(ImageId image) { return (image >> 63) != 0; }

struct alignas(32) ChildClaim {
  // 0: free; else the child's pid as the child sees it, stored together with the flag kForeignPid
  std::atomic<uint32_t> owner;
  std::atomic<uint32_t> generation;  // of the slot's use; written by the supervisor
  // Written by the child before the region's state.
  ImageId parent;
  uint64_t reserved[2];
};
static_assert(sizeof(ChildClaim) == 32);

// The places of the slots. Every followed process can write the area, so each user keeps its own
// copy of the layout: the supervisor the one that it made, a tracker the one that it checked. The
// area's own account is never read again.
struct ChildrenLayout {
  uint32_t region_version = 0;  // kRegionVersion
  uint32_t slots = 0;           // at most kMaxChildSlots
  uint64_t slot_bytes = 0;      // guard page and region
  uint64_t first_offset = 0;
  uint64_t region_budget = 0;  // the budget that each slot is laid out for

  // The offset of a slot's guard page; its region begins a page later.
  uint64_t OffsetOf(uint32_t slot) const { return first_offset + slot * slot_bytes; }
  uint64_t bytes() const { return OffsetOf(slots); }
};

struct ChildrenHeader {
  uint64_t magic;
  ChildrenLayout layout;
  std::atomic<uint32_t> next;  // where a child starts to look for a free slot
  std::atomic<uint32_t> reserved;
  std::atomic<uint64_t> claimed;  // number of children that ever got a slot
  std::atomic<uint64_t> refused;  // number that found none free, or couldn't use it
  alignas(64) ChildClaim claims[kMaxChildSlots];
};

inline constexpr uint64_t kChildrenHeaderBytes =
    (sizeof(ChildrenHeader) + kPageBytes - 1) / kPageBytes * kPageBytes;

// Lays out an area for `children` simultaneous children.
inline ChildrenLayout LayOutChildren(uint32_t children,
                                     uint64_t region_budget = kChildRegionBudget) {
  RegionHeader region = {};
  const uint64_t budget = region_budget < kChildRegionBudget ? region_budget : kChildRegionBudget;
  return {kRegionVersion, children < kMaxChildSlots ? children : kMaxChildSlots,
          kPageBytes + LayOutRegion(region, budget), kChildrenHeaderBytes, budget};
}

}  // namespace memprof
