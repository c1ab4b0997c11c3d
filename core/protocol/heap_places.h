// Where the tracker's tables of live blocks are in the profiled process, so that another process can
// read them in a frozen copy of it. The region has one HeapPlaces; the tracker writes it when it
// starts to count, and anew in a forked child.
//
//   live_map ─► LiveMapWords ─► buckets of 16 slots, groups of 8; a slot is (key, value)
//   inherited_maps ─► the same, one after the other (inherited_stride bytes apart)
//
// A slot is used if its key isn't 0 and not kSlotTentative. The last slot of a bucket or a group is
// no block's. A block that is being moved to a new bucket is there twice: while kMapSplitting is set
// in `state`, the one with kSlotMoving is the live one, and afterwards the other one is. A block with
// kSlotTaken was freed. (aggregator/tables/live_map.h has the proof.)
//
// Everything here is freestanding, as region_layout.h, which includes it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace memprof {

// The first words of a LiveMap, as far as a reader needs them.
struct LiveMapWords {
  uint64_t state;    // number of buckets | kMapSplitting
  uint64_t buckets;  // addresses
  uint64_t groups;
  uint64_t unused[7];
  uint64_t groups_used;
};
static_assert(sizeof(LiveMapWords) == 88);
inline constexpr uint64_t kMapSplitting = 1ull << 63;

struct LiveMapSlot {
  uint64_t key;    // bits 0..2 flags, bits 3..46 of the address, above them bits 40..46 of the size
  uint64_t value;  // bits 0..39 of the size, above them the cell
};
inline constexpr size_t kBucketSlotsAndLink = 16;  // the last one is the link to a group
inline constexpr size_t kGroupSlotsAndLink = 8;
inline constexpr uint64_t kSlotTentative = 1;
inline constexpr uint64_t kSlotMoving = 2;
inline constexpr uint64_t kSlotTaken = 4;
inline constexpr uint64_t kSlotAddressBits = ((1ull << 47) - 1) & ~7ull;
inline constexpr unsigned kSlotSizeHighShift = 47;
inline constexpr unsigned kSlotSizeLowBits = 40;
inline constexpr uint64_t kSlotSizeLowMask = (1ull << kSlotSizeLowBits) - 1;

struct HeapPlaces {
  std::atomic<uint64_t> live_map;  // address; released last; 0: nothing is counted yet
  uint64_t pool_map;               // the blocks of pools (memprof.h); its first words may be 0
  uint64_t inherited_maps;         // in a forked child: what it had from its parent
  uint32_t inherited_count;
  uint32_t inherited_stride;
  // A thread's ThreadState, from its thread pointer on: it names the thread's last block.
  int64_t thread_state;
  uint64_t thread_state_bytes;
};

}  // namespace memprof
