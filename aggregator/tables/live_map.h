// LiveMap: from the address of a live block to its size and cell. Lock-free; no thread waits while
// it grows.
//
// What you call: Init once; Insert for a block that the real malloc returned, with what Prefetch
// returned for its address; Remove before the real free. TakeOver is for a forked child,
// EndLeftSplit for a thread that a signal handler took out of these functions.
//
// Linear hashing. Bucket b has room for 15 blocks and a chain of overflow groups of 7. There are N
// buckets; growing by one splits the bucket b = N - 2^L (L = floor(log2 N)) into b and N. Buckets
// lie in one reserved range, so that memory grows a little at a time and nothing is ever rehashed
// at once.
//
//   state_ = N | splitting        one splitter at a time, splitter_; nobody waits for it
//
//   bucket 0     1     2  …   2^L-1 | 2^L … N-1 |  N
//            already split ┘         └ children  └ next child; its parent is N - 2^L
//
// Thread safety: any thread, also a signal handler that interrupts any of the functions. A block's
// Insert and Remove are never concurrent: the program can't free a block that malloc has not
// returned.
//
// Invariants
//   1. A live block is in its proper bucket (by the N of any moment since it was inserted) or in an
//      ancestor of that bucket: it may have been inserted while its bucket was being split.
//   2. A key word is 0 (free), a key (live), or a key with flags:
//        kTentative         an insert that is not done: only its inserter may use it
//        kMoving            the block has a copy in the bucket that is being added
//        kMoving | kTaken   the same, and the block was freed
//      Only a remover sets kTaken, and only the splitter ends kMoving.
//   3. The bucket that is being added belongs to the splitter, until the new N makes all its blocks
//      live at once. Before that, the original is the live block and the copy in the new bucket
//      doesn't count. Afterwards the copy is the live block, and the kMoving original in the old
//      bucket doesn't count.
//   4. A copy exists before its original is kMoving. So a remover that takes a kMoving original
//      also removes the copy before it returns, whichever of the two is live meanwhile: the address
//      can't come back before. Two Removes at once happen only if the program itself has a race;
//      the one that takes the copy then has the block.
//   5. A value is stored before its key becomes live, and stays as long as the key does.
//   6. N has not changed between the first state_ load and the last look, or the search starts
//      again. Each retry means that a split made progress: lock-free.
//   7. The thread in splitter_ has the split, from before kSplitting is set until the originals are
//      freed. If a handler leaves it by siglongjmp, that thread ends it later (EndLeftSplit).
//
// Memory order: a key is released after its value (Insert) and acquired before it is read (Remove).
// state_ is released with a new N after the new bucket was filled, and acquired before a bucket of
// it is touched. A remover reads a kMoving block's value before the locked instruction that sets
// kTaken; the splitter frees the entry after its own look at N. Nothing orders these two in the
// language, but no load on x86-64 is done after a later locked instruction.
//
// Memory: 256 bytes a bucket at about 10 to 12 blocks, plus 128 a group: 25–33 bytes a block, in
// huge pages when the map is large. Up to 4 MiB it has about 6 blocks a bucket, and the first MiB
// has as much memory for groups. An entry's key and value are in one line. Nine blocks in ten are in
// the line in which their search begins.
//
// Failure: Insert returns false when there is no memory; the caller counts a dropped event.
//
// Source: linear hashing, W. Litwin, "Linear Hashing: a new tool for file and table addressing",
// VLDB 1980.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "aggregator/basics/atomics.h"
#include "core/protocol/region_layout.h"

namespace memprof {

struct Block {
  uint64_t size;  // requested bytes, below 2^47
  uint32_t cell;  // the cell of its allocation; below 2^24
  friend bool operator==(const Block&, const Block&) = default;
};

inline constexpr uint32_t kMaxCells = kMaxCellChunks * kCellsPerChunk;

class LiveMap {
  struct Slot;
  struct Bucket;

 public:
  // Reserves address space for `max_blocks` (a hint). False: no memory.
  bool Init(size_t max_blocks);
  // Gives the memory back. Only when nobody uses the map any more (tests).
  void Destroy();

  // Takes over the other map's content; the other one becomes as before Init. Only when nobody uses
  // either: in a forked child, where threads may have left both in the middle of anything. If one
  // of them was splitting, the map doesn't grow any more.
  void TakeOver(LiveMap& other);

  // The start of an address's search in its proper bucket. It is valid as long as the state is the
  // same: nothing was split then (the number of buckets only grows).
  class Look {
   private:
    friend class LiveMap;
    // A bucket's address is a multiple of its size.
    Slot* begin() const {
      return reinterpret_cast<Slot*>(reinterpret_cast<uintptr_t>(line) & ~(sizeof(Bucket) - 1));
    }
    Slot* end() const { return begin() + kBucketSlots; }

    Slot* line;  // the first of kLineSlots entries
    uint64_t state;
  };

  // Prefetches the memory that an Insert of the address will read, while the caller does something
  // else.
  [[gnu::always_inline]] Look Prefetch(uintptr_t address) const {
    const Look look = LookFor(address);
    __builtin_prefetch(look.line, 1);
    return look;
  }

  // Pre: `address` is not in the map; `look` is Prefetch's result for it. False: no memory, or the
  // address or the size can't be expressed (the address is no multiple of 8 or above 2^47; the size
  // is above 2^47). `runs`: the program goes through the heap from neighbour to neighbour.
  [[gnu::always_inline]] bool Insert(uintptr_t address, const Block& block, Look look,
                                     bool runs = false) {
    // A size from 2^40 on, also a sample's (KeptSize), has bits in the key beside the address.
    if (__builtin_expect(((address & ~kAddressBits) | block.size >> kSizeLowBits) != 0, 0)) {
      return InsertSlowly(address, block);
    }
    const auto take = [&](Slot & slot) __attribute__((always_inline)) {
      uint64_t free = slot.key.load(std::memory_order_relaxed);
      if (free != 0) return false;
      if (__builtin_expect(OneThread(), 1)) {
        if (!CompareExchangeAlone(reinterpret_cast<uint64_t&>(slot.key), free,
                                  address | kTentative)) {
          return false;
        }
      } else if (!CompareExchange(slot.key, free, address | kTentative)) {
        return false;
      }
      if (runs) FetchNear(slot);
      slot.value.store(block.size | uint64_t{block.cell} << kSizeLowBits,
                       std::memory_order_relaxed);
      slot.key.store(address, std::memory_order_release);
      return true;
    };
    if (__builtin_expect(state_.load(std::memory_order_acquire) != look.state, 0)) {
      look = LookAgain(address);
    }
    if (take(*OneOf(look.line, 0))) return true;
    for (Slot *slot = look.begin(), *end = look.end(); slot != end; ++slot) {
      if (take(*slot)) return true;
    }
    return InsertSlowly(address, block);
  }
  bool Insert(uintptr_t address, const Block& block) {
    return Insert(address, block, LookFor(address));
  }

  // Takes the block out. False: it is not there. `runs`: as for Insert.
  [[gnu::always_inline]] bool Remove(uintptr_t address, Block* block, bool runs = false) {
    if ((address & ~kAddressBits) != 0 || address == 0) return false;
    // Nearly always the block is in its proper bucket, is not being moved and has less than 2^40
    // bytes: its key is then the address. RemoveSlowly handles the rest.
    const auto take = [&](Slot & slot) __attribute__((always_inline)) {
      uint64_t key = slot.key.load(std::memory_order_acquire);
      if (key != address) return false;
      const uint64_t value = slot.value.load(std::memory_order_relaxed);
      if (__builtin_expect(OneThread(), 1)) {
        if (!CompareExchangeAlone(reinterpret_cast<uint64_t&>(slot.key), key, 0)) return false;
      } else if (!CompareExchange(slot.key, key, 0)) {
        return false;
      }
      if (runs) FetchNear(slot);
      *block = {value & kSizeLowMask, static_cast<uint32_t>(value >> kSizeLowBits)};
      return true;
    };
    const Look look = LookFor(address);
    if (take(*OneOf(look.line, address))) return true;
    for (Slot *slot = look.begin(), *end = look.end(); slot != end; ++slot) {
      if (take(*slot)) return true;
    }
    Block found;  // separate, so that the caller's may be in registers
    if (!RemoveSlowly(address, &found)) return false;
    *block = found;
    return true;
  }

  // As Remove, but looks only where nearly every block is: in its bucket, without the overflow. For
  // callers that expect that there is no such block.
  bool RemoveFromBucket(uintptr_t address, Block* block);

  // The calling thread was taken out of any of these functions, and will not come back: ends the
  // split that it may have begun.
  void EndLeftSplit();

  // For tests and the benchmark: the number of used entries, which is then that of the blocks. Only
  // when nobody else uses the map.
  size_t CountForTest() const;
  // An upper bound of the number of blocks that were ever live together, approximately.
  size_t buckets() const { return Buckets(state_.load(std::memory_order_relaxed)); }

 private:
  static constexpr size_t kBucketSlots = 15;
  static constexpr size_t kGroupSlots = 7;
  static constexpr size_t kLineSlots = 4;
  static constexpr uint64_t kBlocksABucket = 10;  // it grows above this average
  static constexpr uint64_t kSplitting = kMapSplitting;

  // The words of a slot, which core/protocol/heap_places.h describes.
  static constexpr uint64_t kTentative = kSlotTentative;
  static constexpr uint64_t kMoving = kSlotMoving;
  static constexpr uint64_t kTaken = kSlotTaken;
  static constexpr uint64_t kFlags = kTentative | kMoving | kTaken;
  static constexpr uint64_t kAddressBits = kSlotAddressBits;
  static constexpr unsigned kSizeHighShift = kSlotSizeHighShift;
  static constexpr unsigned kSizeLowBits = kSlotSizeLowBits;
  static constexpr uint64_t kSizeLowMask = kSlotSizeLowMask;

  static uint64_t KeyOf(uintptr_t address, uint64_t size) {
    return address | ((size >> kSizeLowBits) << kSizeHighShift);
  }
  static uint64_t ValueOf(const Block& block) {
    return (block.size & kSizeLowMask) | (uint64_t{block.cell} << kSizeLowBits);
  }
  static Block BlockOf(uint64_t key, uint64_t value) {
    return {(value & kSizeLowMask) | ((key >> kSizeHighShift) << kSizeLowBits),
            static_cast<uint32_t>(value >> kSizeLowBits)};
  }

  struct Slot {  // an entry
    std::atomic<uint64_t> key;
    std::atomic<uint64_t> value;
  };
  struct alignas(256) Bucket {
    // Index + 1 of the first overflow group; 0: none.
    std::atomic<uint64_t>& next() { return slots[kBucketSlots].value; }
    // Marks the last entry's key as neither free nor any block's, before the bucket is used. All
    // lines then look alike to a search.
    void CloseLast() { slots[kBucketSlots].key.store(kTentative, std::memory_order_relaxed); }

    Slot slots[kBucketSlots + 1];
  };
  struct alignas(128) Group {
    Slot slots[kGroupSlots];
    std::atomic<uint64_t> next;
    uint64_t unused;
  };
  static_assert(sizeof(Bucket) == 256 && sizeof(Group) == 128);

  [[gnu::always_inline]] Look LookFor(uintptr_t address) const {
    const uint64_t state = state_.load(std::memory_order_acquire);
    const uint64_t hash = Hash(address);
    Look look;
    look.line = buckets_[Proper(hash, Buckets(state))].slots + LineOf(hash);
    look.state = state;
    return look;
  }

  // Returns the entry of this line that may hold the key: the caller compares. The key is nearly
  // always there. There is no branch, since the entry can't be predicted and the code after a
  // misprediction would wait for the line.
  [[gnu::always_inline]] static Slot* OneOf(Slot* line, uint64_t key) {
    const auto has = [&](Slot * slot) __attribute__((always_inline)) {
      return __builtin_expect_with_probability(slot->key.load(std::memory_order_relaxed) == key, 1,
                                               0.5);
    };
    Slot* slot = line;
    slot = has(line + 1) ? line + 1 : slot;
    slot = has(line + 2) ? line + 2 : slot;
    slot = has(line + 3) ? line + 3 : slot;
    return slot;
  }

  // Prefetches the lines of blocks some two KiB further on and further back in the heap, assuming
  // that the table is as full there as here. The addresses need not be mapped. It works in both
  // directions: allocators give freed blocks out in reverse order, and the step from the previous
  // block doesn't tell the direction.
  [[gnu::always_inline]] static void FetchNear(const Slot& slot) {
    constexpr size_t kFar = 8 * sizeof(Bucket) / sizeof(Slot);
    __builtin_prefetch(&slot + kFar, 1);
    __builtin_prefetch(&slot + kFar + kLineSlots, 1);
    __builtin_prefetch(&slot - kFar, 1);
    __builtin_prefetch(&slot - kFar - kLineSlots, 1);
  }

  // A function of its own, so that Insert saves no register for it.
  [[gnu::noinline]] Look LookAgain(uintptr_t address) const { return LookFor(address); }

  // A view of a bucket or a group: its entries and the link to the next group.
  struct Slots {
    Slot* slots;
    size_t count;
    std::atomic<uint64_t>* next;
  };

  static uint64_t Buckets(uint64_t state) { return state & ~kSplitting; }

  // Neighbours in the heap are neighbours in the table, since programs allocate and free them one
  // after the other, and a heap without holes fills the table evenly. So a bucket's number is the
  // address divided by a little less than 256, modulo the number of buckets. It is a little less so
  // that blocks or arenas that are a power of two apart don't meet in few buckets. Each quarter of
  // these bytes has a line of the bucket to begin with, so that lines fill as evenly as buckets.
  // Bits 32..63 are the bucket's, 30 and 31 the line's.
  static uint64_t Hash(uintptr_t address) {
    constexpr uint64_t kScale = 17814105;  // 2^24 · 1.0618
    return address * kScale;
  }
  // The bucket that `hash` belongs to if there are `buckets` buckets.
  static uint64_t Proper(uint64_t hash, uint64_t buckets) {
    const uint64_t half = 1ull << (63 ^ static_cast<unsigned>(__builtin_clzll(buckets)));
    const uint64_t wide = hash >> 32 & (2 * half - 1);
    // Without a branch, which could not be predicted: all ones if `wide` is no bucket yet.
    const auto is_none = static_cast<uint64_t>(static_cast<int64_t>(buckets - 1 - wide) >> 63);
    return wide - (half & is_none);
  }
  static size_t LineOf(uint64_t hash) { return (hash >> 30 & 3) * kLineSlots; }
  // The entry at which the search begins in a bucket; in a group it is the first.
  static size_t FirstSlot(uint64_t hash, size_t count) {
    return count == kBucketSlots ? LineOf(hash) : 0;
  }
  Slots Of(Bucket& bucket) const { return {bucket.slots, kBucketSlots, &bucket.next()}; }
  bool Next(Slots* slots) const;

  bool InsertSlowly(uintptr_t address, Block block);
  bool RemoveSlowly(uintptr_t address, Block* block);
  bool NextOrNew(Slots* slots);
  Slot* Reserve(Slots slots, uint64_t hash, uint64_t tentative_key);
  bool Claim(uint64_t bucket, uint64_t hash, uint64_t address_bits, uint64_t state, uint64_t* key,
             uint64_t* value, bool* raced);
  bool RemoveCopy(uintptr_t address, uint64_t live, uint64_t child);
  bool AddGroup(std::atomic<uint64_t>* link);
  bool EnsureCommitted(std::atomic<uint64_t>& committed, unsigned char* base, size_t reserved,
                       uint64_t need);
  void Grow();
  static size_t CountTaken(const Slots& slots, size_t first, size_t end);
  bool LoadIsHigh(uint64_t buckets) const;
  static uint64_t ParentOf(uint64_t bucket);
  void FillChild(uint64_t child);
  void EndSplit(uint64_t child);
  void MendChild(uint64_t child);
  void FreeOriginals(uint64_t child);
  Slot* ReserveInChild(Slots* slots, uint64_t hash);
  static void CheckLayout();  // that it begins with LiveMapWords

  std::atomic<uint64_t> state_{0};
  Bucket* buckets_ = nullptr;
  Group* groups_ = nullptr;
  size_t bucket_bytes_reserved_ = 0;
  size_t group_bytes_reserved_ = 0;

  alignas(64) std::atomic<uint64_t> bucket_bytes_committed_{0};
  std::atomic<uint64_t> group_bytes_committed_{0};
  std::atomic<uint64_t> groups_used_{0};
  std::atomic<const void*> splitter_{nullptr};  // the splitting thread, by its thread pointer
  // splits until the load is looked at again; negative: overflows to ignore before that
  std::atomic<int64_t> split_credit_{0};
};

}  // namespace memprof
