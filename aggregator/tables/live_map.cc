#include "aggregator/tables/live_map.h"

#include "aggregator/basics/private_memory.h"

namespace memprof {
namespace {

constexpr uint64_t kFirstBuckets = 256;
constexpr size_t kFirstCommit = 64 * 1024;
constexpr size_t kLargestCommit = kHugePage;
// Average blocks in a bucket. A small table fills unevenly: at kBlocksABucket one insert in four
// may find its bucket of 15 full, at 6 few do. The additional room is only used while the table is
// a few MiB.
constexpr uint64_t kSplitSmallAbove = 6;
constexpr uint64_t kSmallBuckets = 16384;  // 4 MiB
// In days nearly every bucket is full once, and some need two groups. Tables up to this number of
// buckets have the memory for these from the start, so that it doesn't grow by chance.
constexpr uint64_t kSettledBuckets = 4096;  // 1 MiB, and as much for groups
// A look at the load counts at most this many buckets, so all buckets of a small table. With few
// samples a constant population would seem to have grown now and then, and the table would grow by
// chance for days.
constexpr uint64_t kMostSamples = 1024;

const void* ThisThread() { return __builtin_thread_pointer(); }

}  // namespace

bool LiveMap::Init(size_t max_blocks) {
  size_t bytes = 1 << 20;
  while (bytes < max_blocks / 8 * sizeof(Bucket)) bytes *= 2;
  bytes = AddressSpaceShare(bytes);
  void* buckets = nullptr;
  void* groups = nullptr;
  for (; bytes >= kFirstBuckets * sizeof(Bucket); bytes /= 2) {
    buckets = ReserveMemory(bytes);
    groups = ReserveMemory(bytes);
    if (buckets != nullptr && groups != nullptr) break;
    if (buckets != nullptr) UnmapMemory(buckets, bytes);
    if (groups != nullptr) UnmapMemory(groups, bytes);
    buckets = groups = nullptr;
  }
  if (buckets == nullptr) return false;
  // A forked child may have been left in the middle of an Init.
  bucket_bytes_committed_ = 0;
  group_bytes_committed_ = 0;
  buckets_ = static_cast<Bucket*>(buckets);
  groups_ = static_cast<Group*>(groups);
  bucket_bytes_reserved_ = bytes;
  group_bytes_reserved_ = bytes;
  if (!EnsureCommitted(bucket_bytes_committed_, reinterpret_cast<unsigned char*>(buckets_), bytes,
                       kFirstBuckets * sizeof(Bucket))) {
    return false;
  }
  for (uint64_t b = 0; b < kFirstBuckets; ++b) buckets_[b].CloseLast();
  state_.store(kFirstBuckets, std::memory_order_release);
  return true;
}

void LiveMap::Destroy() {
  UnmapMemory(buckets_, bucket_bytes_reserved_);
  UnmapMemory(groups_, group_bytes_reserved_);
  CountPrivateBytes(
      -static_cast<int64_t>(bucket_bytes_committed_.load() + group_bytes_committed_.load()));
  bucket_bytes_committed_ = 0;
  group_bytes_committed_ = 0;
  groups_used_ = 0;
  splitter_ = nullptr;
  split_credit_ = 0;
  state_ = 0;
}

void LiveMap::TakeOver(LiveMap& other) {
  const auto take = [](auto& to, auto& from) { to = from.exchange(0); };
  buckets_ = other.buckets_;
  groups_ = other.groups_;
  bucket_bytes_reserved_ = other.bucket_bytes_reserved_;
  group_bytes_reserved_ = other.group_bytes_reserved_;
  take(bucket_bytes_committed_, other.bucket_bytes_committed_);
  take(group_bytes_committed_, other.group_bytes_committed_);
  take(groups_used_, other.groups_used_);
  take(split_credit_, other.split_credit_);
  // The splitting thread is gone. Nobody takes its place in a map that only gets emptier.
  take(state_, other.state_);
  splitter_ = other.splitter_.exchange(nullptr);
  other.buckets_ = nullptr;
  other.groups_ = nullptr;
}

bool LiveMap::Next(Slots* slots) const {
  const uint64_t next = slots->next->load(std::memory_order_acquire);
  if (next == 0) return false;
  Group& group = groups_[next - 1];
  *slots = {group.slots, kGroupSlots, &group.next};
  return true;
}

bool LiveMap::NextOrNew(Slots* slots) {
  return Next(slots) || (AddGroup(slots->next) && Next(slots));
}

// Takes a free entry of the chain from `slots` on for a key that is not live yet.
LiveMap::Slot* LiveMap::Reserve(Slots slots, uint64_t hash, uint64_t tentative_key) {
  for (;;) {
    size_t at = FirstSlot(hash, slots.count);
    for (size_t i = 0; i < slots.count; ++i, at = at + 1 == slots.count ? 0 : at + 1) {
      Slot& slot = slots.slots[at];
      uint64_t free = slot.key.load(std::memory_order_relaxed);
      if (free != 0) continue;
      // Acquire: the value of the entry's former block was read before its key was cleared.
      if (CompareExchange(slot.key, free, tentative_key)) return &slot;
    }
    if (!NextOrNew(&slots)) return nullptr;
  }
}

// Links a new overflow group, or finds that another thread did. False: no memory.
bool LiveMap::AddGroup(std::atomic<uint64_t>* link) {
  uint64_t index = groups_used_.load(std::memory_order_relaxed);
  do {
    if (!EnsureCommitted(group_bytes_committed_, reinterpret_cast<unsigned char*>(groups_),
                         group_bytes_reserved_, (index + 1) * sizeof(Group))) {
      return false;
    }
  } while (!groups_used_.compare_exchange_weak(index, index + 1, std::memory_order_relaxed));
  uint64_t none = 0;
  // The losing thread's group is lost: 128 bytes, at most once a race.
  link->compare_exchange_strong(none, index + 1, std::memory_order_acq_rel,
                                std::memory_order_acquire);
  return true;
}

// Commits up to `need` bytes in disjoint steps. Threads that come together may both commit the same
// step, which is harmless; the one that publishes it counts it.
bool LiveMap::EnsureCommitted(std::atomic<uint64_t>& committed, unsigned char* base,
                              size_t reserved, uint64_t need) {
  for (;;) {
    uint64_t have = committed.load(std::memory_order_acquire);
    if (need <= have) return true;
    if (need > reserved) return false;
    size_t step = have / 8 / 4096 * 4096;
    if (step < kFirstCommit) step = kFirstCommit;
    // From here on in whole huge pages, if the range has them.
    if (have >= 2 * kLargestCommit) step = kLargestCommit - have % kLargestCommit;
    if (step > reserved - have) step = reserved - have;
    if (!CommitMemory(base + have, step)) return false;
    if (!committed.compare_exchange_strong(have, have + step, std::memory_order_acq_rel)) {
      CountPrivateBytes(-static_cast<int64_t>(step));
    }
  }
}

bool LiveMap::InsertSlowly(uintptr_t address, Block block) {
  if ((address & ~kAddressBits) != 0 || block.size >> 47 != 0) return false;
  const uint64_t key = KeyOf(address, block.size);
  const uint64_t hash = Hash(address);
  const uint64_t state = state_.load(std::memory_order_acquire);
  Bucket& bucket = buckets_[Proper(hash, Buckets(state))];
  Slots slots = Of(bucket);
  // Insert has just found the bucket itself full, unless it did not look (a large size).
  const bool found_full = block.size >> kSizeLowBits == 0;
  Slot* slot = !found_full || NextOrNew(&slots) ? Reserve(slots, hash, key | kTentative) : nullptr;
  if (slot == nullptr) return false;
  slot->value.store(ValueOf(block), std::memory_order_relaxed);
  slot->key.store(key, std::memory_order_release);
  if (slot < bucket.slots || slot >= bucket.slots + kBucketSlots) Grow();
  return true;
}

// Searches one chain for a block of the address and takes it. `key` gets its flags too. `raced` is
// set if a splitter changed an entry meanwhile, or the number of buckets changed.
bool LiveMap::Claim(uint64_t bucket, uint64_t hash, uint64_t address_bits, uint64_t state,
                    uint64_t* key, uint64_t* value, bool* raced) {
  const bool is_proper = bucket == Proper(hash, Buckets(state));
  Slots slots = Of(buckets_[bucket]);
  do {
    size_t at = FirstSlot(hash, slots.count);
    for (size_t i = 0; i < slots.count; ++i, at = at + 1 == slots.count ? 0 : at + 1) {
      Slot& slot = slots.slots[at];
      uint64_t found = slot.key.load(std::memory_order_acquire);
      if ((found & kAddressBits) != address_bits || (found & (kTentative | kTaken)) != 0) continue;
      uint64_t taken = 0;
      if ((found & kMoving) != 0) {
        // If the block was found in an ancestor bucket, the copy in the child bucket is the live
        // one (invariant 3).
        if (!is_proper) continue;
        // The entry was seen as moving, so this look at N comes during or after that split.
        if (Buckets(state_.load(std::memory_order_acquire)) != Buckets(state)) {
          *raced = true;
          continue;
        }
        taken = found | kTaken;
      }
      *value = slot.value.load(std::memory_order_relaxed);
      *key = found;
      if (CompareExchange(slot.key, found, taken)) return true;
      *raced = true;
    }
  } while (Next(&slots));
  return false;
}

// The kMoving original of a block was taken: removes its copy from `child`, the bucket that is or
// was being added, wherever the copy is now. False: another Remove of the same block did (a race of
// two frees in the program); one of them has the block.
bool LiveMap::RemoveCopy(uintptr_t address, uint64_t live, uint64_t child) {
  for (;;) {
    Slots slots = Of(buckets_[child]);
    do {
      for (size_t at = 0; at < slots.count; ++at) {
        uint64_t copy = slots.slots[at].key.load(std::memory_order_acquire);
        if (copy == live && CompareExchange(slots.slots[at].key, copy, 0)) return true;
      }
    } while (Next(&slots));
    // Not found: it has become the live block, and another split is moving it.
    const uint64_t state = state_.load(std::memory_order_acquire);
    Block same;
    if (Buckets(state) > child) return RemoveSlowly(address, &same);
  }
}

bool LiveMap::RemoveFromBucket(uintptr_t address, Block* block) {
  const Look look = LookFor(address);
  for (Slot *slot = look.begin(), *end = look.end(); slot != end; ++slot) {
    uint64_t key = slot->key.load(std::memory_order_acquire);
    if (key != address) continue;
    const uint64_t value = slot->value.load(std::memory_order_relaxed);
    if (!CompareExchange(slot->key, key, 0)) continue;
    *block = BlockOf(address, value);
    return true;
  }
  return false;
}

bool LiveMap::RemoveSlowly(uintptr_t address, Block* block) {
  if ((address & ~kAddressBits) != 0 || address == 0) return false;
  const uint64_t hash = Hash(address);
  uint64_t state = state_.load(std::memory_order_acquire);
  for (;;) {
    uint64_t key;
    uint64_t value;
    bool raced = false;
    uint64_t bucket = Proper(hash, Buckets(state));
    bool found = Claim(bucket, hash, address, state, &key, &value, &raced);
    // A miss, which is rare: the block may be in an ancestor (invariant 1).
    while (!found && bucket >= kFirstBuckets) {
      bucket = ParentOf(bucket);
      found = Claim(bucket, hash, address, state, &key, &value, &raced);
    }
    if (found) {
      if ((key & kMoving) != 0 && !RemoveCopy(address, key & ~kFlags, Buckets(state))) return false;
      *block = BlockOf(key, value);
      return true;
    }
    const uint64_t now = state_.load(std::memory_order_acquire);
    if (Buckets(now) == Buckets(state) && !raced) return false;
    state = now;
  }
}

// Called after an insert that found its bucket full: splits one bucket if the table is loaded.
void LiveMap::Grow() {
  const uint64_t state = state_.load(std::memory_order_relaxed);
  if ((state & kSplitting) != 0) return;
  const uint64_t buckets = Buckets(state);
  // A look at the load is expensive. So each look decides for several splits, or for a pause of
  // which it is a small part.
  const int64_t credit = split_credit_.load(std::memory_order_relaxed);
  if (credit < 0) {
    split_credit_.store(credit + 1, std::memory_order_relaxed);
    return;
  }
  if (credit > 0) {
    split_credit_.store(credit - 1, std::memory_order_relaxed);
  } else if (LoadIsHigh(buckets)) {
    split_credit_.store(static_cast<int64_t>(buckets / (buckets < kSmallBuckets ? 16 : 64)),
                        std::memory_order_relaxed);
  } else {
    split_credit_.store(buckets <= kMostSamples ? -64 : -static_cast<int64_t>(kMostSamples),
                        std::memory_order_relaxed);
    return;
  }
  if (!EnsureCommitted(bucket_bytes_committed_, reinterpret_cast<unsigned char*>(buckets_),
                       bucket_bytes_reserved_, (buckets + 1) * sizeof(Bucket))) {
    return;  // no memory: the chains grow instead, or inserts fail and are counted
  }
  if (buckets < kSettledBuckets) {  // without: AddGroup asks again
    EnsureCommitted(group_bytes_committed_, reinterpret_cast<unsigned char*>(groups_),
                    group_bytes_reserved_, (buckets + 1) * 2 * sizeof(Group));
  }
  const void* nobody = nullptr;
  // Acquire: the last splitter's state, and its work.
  if (!splitter_.compare_exchange_strong(nobody, ThisThread(), std::memory_order_acquire,
                                         std::memory_order_relaxed)) {
    return;  // another thread is splitting
  }
  if (state_.load(std::memory_order_relaxed) == buckets) {
    state_.store(buckets | kSplitting, std::memory_order_release);
    FillChild(buckets);
    EndSplit(buckets);
  } else {
    splitter_.store(nullptr, std::memory_order_release);
  }
}

void LiveMap::EndSplit(uint64_t child) {
  state_.store(child + 1, std::memory_order_release);
  FreeOriginals(child);
  splitter_.store(nullptr, std::memory_order_release);
}

void LiveMap::EndLeftSplit() {
  if (splitter_.load(std::memory_order_relaxed) != ThisThread()) return;
  const uint64_t state = state_.load(std::memory_order_relaxed);
  const uint64_t buckets = Buckets(state);
  if ((state & kSplitting) != 0) {
    MendChild(buckets);
    FillChild(buckets);
    EndSplit(buckets);
  } else {  // it was left before it began, or while it freed the originals of the last split
    EndSplit(buckets - 1);
  }
}

// Repairs a FillChild that was left in the middle. A copy whose original has no mark doesn't count,
// and is removed. A copy without its value gets it.
void LiveMap::MendChild(uint64_t child) {
  // The word of a copy's original, found by the copy's key; or 0.
  const auto original = [&](uint64_t key, uint64_t* value) -> uint64_t {
    Slots slots = Of(buckets_[ParentOf(child)]);
    do {
      for (size_t at = 0; at < slots.count; ++at) {
        const uint64_t found = slots.slots[at].key.load(std::memory_order_acquire);
        if ((found & ~kTaken) != (key | kMoving)) continue;
        *value = slots.slots[at].value.load(std::memory_order_relaxed);
        return found;
      }
    } while (Next(&slots));
    return 0;
  };
  Slots slots = Of(buckets_[child]);
  do {
    for (size_t at = 0; at < slots.count; ++at) {
      Slot& copy = slots.slots[at];
      const uint64_t key = copy.key.load(std::memory_order_acquire);
      if (key == 0 || (key & kFlags) != 0) continue;
      uint64_t value;
      const uint64_t found = original(key, &value);
      if (found == 0) copy.key.store(0, std::memory_order_release);
      // The thread that takes a kTaken block also removes its copy, and doesn't read the copy's
      // value.
      if (found != 0 && (found & kTaken) == 0) copy.value.store(value, std::memory_order_relaxed);
    }
  } while (Next(&slots));
}

// Counts the entries in [first, end) that are not free.
size_t LiveMap::CountTaken(const Slots& slots, size_t first, size_t end) {
  size_t count = 0;
  for (size_t at = first; at < end; ++at) {
    count += slots.slots[at].key.load(std::memory_order_relaxed) != 0;
  }
  return count;
}

// True if there are too many blocks in a bucket on average. A large table's load is estimated from
// buckets spread evenly over it, and each bucket's from one of its lines, since a line is a cache
// miss. The last line stands for the groups too.
bool LiveMap::LoadIsHigh(uint64_t buckets) const {
  constexpr size_t kLines = 4;
  const bool whole = buckets <= kMostSamples;
  const uint64_t samples = whole ? buckets : kMostSamples;
  uint64_t blocks = 0;
  for (uint64_t i = 0; i < samples; ++i) {
    Slots slots = Of(buckets_[buckets * i / samples]);
    // In no order, so that blocks at regular distances don't fill exactly the lines that are read.
    const size_t line = i * 0x9e3779b9u % (1ull << 32) >> 30;
    const bool last = whole || line == kLines - 1;
    const size_t first = whole ? 0 : line * kLineSlots;
    blocks += CountTaken(slots, first, last ? slots.count : first + kLineSlots);
    while (last && Next(&slots)) blocks += CountTaken(slots, 0, slots.count);
  }
  const uint64_t limit = buckets < kSmallBuckets ? kSplitSmallAbove : kBlocksABucket;
  return (whole ? 1 : kLines) * blocks > limit * samples;
}

// The index without its leading bit.
uint64_t LiveMap::ParentOf(uint64_t bucket) {
  return bucket & ~(1ull << (63 - static_cast<unsigned>(__builtin_clzll(bucket))));
}

// A free entry of a bucket that only this thread fills; `slots` is where the last one was found. A
// remover of a copy frees its entry. Null: no memory.
LiveMap::Slot* LiveMap::ReserveInChild(Slots* slots, uint64_t hash) {
  do {
    size_t at = FirstSlot(hash, slots->count);
    for (size_t i = 0; i < slots->count; ++i, at = at + 1 == slots->count ? 0 : at + 1) {
      Slot& slot = slots->slots[at];
      if (slot.key.load(std::memory_order_acquire) == 0) return &slot;
    }
  } while (NextOrNew(slots));
  return nullptr;
}

// Copies the blocks of `child` from its parent (invariants 3 and 4). Without memory a block stays
// where it is, as does an insert that isn't done: invariant 1.
void LiveMap::FillChild(uint64_t child) {
  buckets_[child].CloseLast();
  Slots to = Of(buckets_[child]);
  Slots slots = Of(buckets_[ParentOf(child)]);
  do {
    for (size_t at = 0; at < slots.count; ++at) {
      Slot& slot = slots.slots[at];
      uint64_t live = slot.key.load(std::memory_order_acquire);
      if (live == 0 || (live & kFlags) != 0) continue;
      const uint64_t hash = Hash(live & kAddressBits);
      if (Proper(hash, child + 1) != child) continue;
      Slot* copy = ReserveInChild(&to, hash);
      if (copy == nullptr) return;
      const uint64_t key = live;
      copy->key.store(key, std::memory_order_release);
      if (CompareExchange(slot.key, live, key | kMoving)) {
        // Now the value is this block's; before, it may have been that of a block that came and
        // went.
        copy->value.store(slot.value.load(std::memory_order_relaxed), std::memory_order_relaxed);
      } else {
        copy->key.store(0, std::memory_order_release);  // the block was freed
      }
    }
  } while (Next(&slots));
}

// Called after the new N was released: frees the entries of the blocks that were moved to `child`.
// Originals of other splits, whose thread has not come to this yet, are left.
void LiveMap::FreeOriginals(uint64_t child) {
  Slots slots = Of(buckets_[ParentOf(child)]);
  do {
    for (size_t at = 0; at < slots.count; ++at) {
      std::atomic<uint64_t>& key = slots.slots[at].key;
      const uint64_t found = key.load(std::memory_order_acquire);
      if ((found & kMoving) == 0) continue;
      const uint64_t hash = Hash(found & kAddressBits);
      if (Proper(hash, child + 1) == child) key.store(0, std::memory_order_release);
    }
  } while (Next(&slots));
}

void LiveMap::CheckLayout() {
  static_assert(offsetof(LiveMap, state_) == offsetof(LiveMapWords, state) &&
                offsetof(LiveMap, buckets_) == offsetof(LiveMapWords, buckets) &&
                offsetof(LiveMap, groups_) == offsetof(LiveMapWords, groups) &&
                offsetof(LiveMap, groups_used_) == offsetof(LiveMapWords, groups_used));
  static_assert(sizeof(Bucket) == kBucketSlotsAndLink * sizeof(LiveMapSlot) &&
                sizeof(Group) == kGroupSlotsAndLink * sizeof(LiveMapSlot));
}

size_t LiveMap::CountForTest() const {
  size_t count = 0;
  for (uint64_t b = 0; b < buckets(); ++b) {
    Slots slots = Of(buckets_[b]);
    do {
      count += CountTaken(slots, 0, slots.count);
    } while (Next(&slots));
  }
  return count;
}

}  // namespace memprof
