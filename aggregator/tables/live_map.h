// LiveMap: address of a live block → its size and cell. Lock-free; grows without stopping anybody.
//
// Linear hashing. Bucket b has room for 15 blocks and a chain of overflow groups of 7. There are
// N buckets; growing by one splits the bucket b = N - 2^L (L = floor(log2 N)) into b and N. Buckets
// lie in one reserved range, so that memory grows a little at a time and nothing is ever rehashed
// at once.
//
//   state_ = N | splitting        one splitter at a time, splitter_; nobody waits for it
//
//   bucket 0     1     2  …   2^L-1 | 2^L … N-1 |  N
//            already split ┘         └ children  └ next child; its parent is N - 2^L
//
// Thread safety: any thread, also a signal handler that interrupts any of the functions. A block's
// Insert and Remove are never concurrent: the program can't free what malloc has not returned.
//
// Invariants
//   1. A live block is in its proper bucket (by the N of any moment since it was inserted) or in an
//      ancestor of it: it may have been inserted as its bucket was being split.
//   2. A key word is 0 (free), a key (live), or a key with flags:
//        kTentative         an insert that is not done: its inserter's alone
//        kMoving            the block has a copy in the bucket that is being added
//        kMoving | kTaken   the same, and the block was freed
//      Only a remover sets kTaken, and only the splitter ends kMoving.
//   3. The bucket that is being added is the splitter's alone, until the new N makes all its blocks
//      live at once. Till then a block is where it was and what lies in the new bucket is nothing;
//      from then on the copy is the block, and what is kMoving in the old bucket is nothing.
//   4. A copy is there before its original is kMoving. So who takes a kMoving original takes the
//      copy away too before it returns, whichever of them is the block meanwhile: the address can't
//      come back before. If two Removes come at once, which only a program's own race
//      makes, the one that takes the copy has the block.
//   5. A value is stored before its key becomes live, and stays while the key does.
//   6. Between the first state_ load and the last look N has not changed, or the search starts
//      again. Each retry means that a split made progress: lock-free.
//   7. The thread in splitter_ has the split, from before kSplitting is set until the originals are
//      freed. If a handler leaves it by siglongjmp, that thread ends it later (EndLeftSplit).
//
// Memory order: a key is released after its value (Insert) and acquired before it is read (Remove).
// state_ is released with a new N after the new bucket was filled, and acquired before a bucket of
// it is touched. A remover reads a kMoving block's value before the locked instruction that sets
// kTaken, the splitter frees the slot after its own look at N: nothing orders these two in the
// language, but no load on x86-64 is done after a later locked instruction.
//
// Memory: 256 bytes a bucket at about 10 to 12 blocks, plus 128 a group: 25–33 bytes a block, in
// huge pages when it is large; up to 4 MiB at about 6 blocks a bucket, of which the first MiB has
// as much for groups. A slot's key and value lie in one line, and so do nine blocks in ten with the
// slot where they are looked for.
//
// Failure: Insert gives false when there is no memory; the caller counts a dropped event.
//
// Source: linear hashing, W. Litwin, "Linear Hashing: a new tool for file and table addressing",
// VLDB 1980.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "aggregator/atomics.h"
#include "core/protocol/region_layout.h"

namespace memprof {

struct Block {
  uint64_t size;  // requested bytes, below 2^47
  uint32_t cell;  // where its allocation is booked; below 2^24
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

  // Has what the other one had, which is then as it was before Init. Only when nobody uses either:
  // in a forked child, where threads may have left both in the middle of anything. It doesn't grow
  // any more if one of them was splitting.
  void TakeOver(LiveMap& other);

  // Where an address begins in its proper bucket, as long as the state is the same: then nothing
  // was split meanwhile (the number of buckets only grows).
  class Look {
   private:
    friend class LiveMap;
    // A bucket lies on a multiple of its size.
    Slot* begin() const {
      return reinterpret_cast<Slot*>(reinterpret_cast<uintptr_t>(line) & ~(sizeof(Bucket) - 1));
    }
    Slot* end() const { return begin() + kBucketSlots; }

    Slot* line;  // kLineSlots of them
    uint64_t state;
  };

  // Fetches the memory that an Insert of the address will look at, while the caller does something
  // else.
  [[gnu::always_inline]] Look Prefetch(uintptr_t address) const {
    const Look look = LookFor(address);
    __builtin_prefetch(look.line, 1);
    return look;
  }

  // Pre: `address` is not in the map; `look` is what Prefetch gave for it. False: no memory, or the
  // address or the size can't be expressed (the address is no multiple of 8 or above 2^47; the size
  // is above 2^47). `runs`: the program goes through the heap from neighbour to neighbour.
  [[gnu::always_inline]] bool Insert(uintptr_t address, const Block& block, Look look,
                                     bool runs = false) {
    // A size from 2^40, also of samples (KeptSize), makes the key more than the address.
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

  // Takes the block out. False: not there. `runs`: as for Insert.
  [[gnu::always_inline]] bool Remove(uintptr_t address, Block* block, bool runs = false) {
    if ((address & ~kAddressBits) != 0 || address == 0) return false;
    // Nearly always it lies in its proper bucket, is not being moved and has less than 2^40
    // bytes: then its key is the address. The rest is RemoveSlowly's.
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
    Block found;  // apart, so that the caller's may be in registers
    if (!RemoveSlowly(address, &found)) return false;
    *block = found;
    return true;
  }

  // As Remove, but looks only where nearly every block is: in its bucket, and there without its
  // overflow. For who expects that there is none.
  bool RemoveFromBucket(uintptr_t address, Block* block);

  // The calling thread was taken out of any of these functions, and will not come back: ends the
  // split that it had begun, if it had.
  void EndLeftSplit();

  // For tests and the benchmark: the slots that are taken, which then are the blocks'. Only when
  // nobody else uses the map.
  size_t CountForTest() const;
  // Not many more blocks than that were ever live together.
  size_t buckets() const { return Buckets(state_.load(std::memory_order_relaxed)); }

 private:
  static constexpr size_t kBucketSlots = 15;
  static constexpr size_t kGroupSlots = 7;
  static constexpr size_t kLineSlots = 4;
  static constexpr uint64_t kBlocksABucket = 10;  // above them it grows
  static constexpr uint64_t kSplitting = 1ull << 63;

  // A key word: bits 0..2 flags, bits 3..46 of the address, above them bits 40..46 of the size.
  // A value word: bits 0..39 of the size, above them the cell.
  static constexpr uint64_t kTentative = 1;
  static constexpr uint64_t kMoving = 2;
  static constexpr uint64_t kTaken = 4;
  static constexpr uint64_t kFlags = kTentative | kMoving | kTaken;
  static constexpr uint64_t kAddressBits = ((1ull << 47) - 1) & ~7ull;
  static constexpr unsigned kSizeHighShift = 47;
  static constexpr unsigned kSizeLowBits = 40;
  static constexpr uint64_t kSizeLowMask = (1ull << kSizeLowBits) - 1;

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

  struct Slot {
    std::atomic<uint64_t> key;
    std::atomic<uint64_t> value;
  };
  struct alignas(256) Bucket {
    // Index + 1 of the first overflow group; 0: none.
    std::atomic<uint64_t>& next() { return slots[kBucketSlots].value; }
    // The last slot's key is neither free nor any block's, from before the bucket is used: so all
    // lines are alike to who looks at one.
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

  // The slot of a line that has the key, if one has: nearly always one does. It has no branch:
  // which slot it is can't be predicted, and what follows would wait for the line.
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

  // Where blocks some two KiB further on and further back lie, if the table is as full there as
  // here. It need not be mapped. Both ways: allocators give freed blocks out last first, and a step
  // from the block before doesn't tell which way the program goes.
  [[gnu::always_inline]] static void FetchNear(const Slot& slot) {
    constexpr size_t kFar = 8 * sizeof(Bucket) / sizeof(Slot);
    __builtin_prefetch(&slot + kFar, 1);
    __builtin_prefetch(&slot + kFar + kLineSlots, 1);
    __builtin_prefetch(&slot - kFar, 1);
    __builtin_prefetch(&slot - kFar - kLineSlots, 1);
  }

  // Apart, so that Insert keeps nothing for it.
  [[gnu::noinline]] Look LookAgain(uintptr_t address) const { return LookFor(address); }

  // A view of either: its slots and the link to what follows.
  struct Slots {
    Slot* slots;
    size_t count;
    std::atomic<uint64_t>* next;
  };

  static uint64_t Buckets(uint64_t state) { return state & ~kSplitting; }

  // Neighbours in the heap are neighbours in the table, since programs allocate and free them one
  // after the other; and a heap without holes fills the table evenly. So a bucket's number is the
  // address by a little less than 256, modulo the buckets: a little, so that blocks or arenas that
  // are a power of two apart don't meet in few buckets. Each quarter of these bytes has a line of
  // the bucket to begin with, so that lines fill as evenly as buckets.
  // Bits 32..63 are the bucket's, 30 and 31 the line's.
  static uint64_t Hash(uintptr_t address) {
    constexpr uint64_t kScale = 17814105;  // 2^24 · 1.0618
    return address * kScale;
  }
  // The bucket that `hash` belongs to when there are `buckets` of them.
  static uint64_t Proper(uint64_t hash, uint64_t buckets) {
    const uint64_t half = 1ull << (63 ^ static_cast<unsigned>(__builtin_clzll(buckets)));
    const uint64_t wide = hash >> 32 & (2 * half - 1);
    // Without a branch, which could not be predicted: all ones where `wide` is no bucket yet.
    const auto is_none = static_cast<uint64_t>(static_cast<int64_t>(buckets - 1 - wide) >> 63);
    return wide - (half & is_none);
  }
  static size_t LineOf(uint64_t hash) { return (hash >> 30 & 3) * kLineSlots; }
  // In a bucket; a group is looked at from its begin.
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

  std::atomic<uint64_t> state_{0};
  Bucket* buckets_ = nullptr;
  Group* groups_ = nullptr;
  size_t bucket_bytes_reserved_ = 0;
  size_t group_bytes_reserved_ = 0;

  alignas(64) std::atomic<uint64_t> bucket_bytes_committed_{0};
  std::atomic<uint64_t> group_bytes_committed_{0};
  std::atomic<uint64_t> groups_used_{0};
  std::atomic<const void*> splitter_{nullptr};  // a thread, by its thread pointer
  std::atomic<int64_t> split_credit_{0};  // splits until the load is looked at again; negative:
                                          // overflows to let pass before it is
};

}  // namespace memprof
