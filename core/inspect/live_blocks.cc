#include "core/inspect/live_blocks.h"

#include <algorithm>
#include <span>
#include <tuple>

namespace memprof {
namespace {

constexpr uint64_t kMostBuckets = uint64_t{1} << 27;  // 32 GiB of them; Init reserves less
constexpr uint64_t kMostGroups = uint64_t{1} << 28;
constexpr uint64_t kHighestAddress = uint64_t{1} << 47;
constexpr size_t kSlotsAtOnce = 65536;
constexpr uint32_t kMostInherited = 16;
constexpr uint32_t kLargestStride = 4096;

struct Entry {
  LiveBlock block;
  bool moving;
  bool taken;
};

// Adds the entries of `count` arrays of `each` slots, of which the last is none.
void AddEntries(const MemorySource& memory, uint64_t at, uint64_t count, size_t each,
                std::vector<Entry>& entries) {
  std::vector<LiveMapSlot> slots(kSlotsAtOnce);
  const uint64_t all = count * each;
  for (uint64_t done = 0; done < all; done += kSlotsAtOnce) {
    const size_t now = std::min<uint64_t>(kSlotsAtOnce, all - done);
    memory.Read(at + done * sizeof(LiveMapSlot),
                {reinterpret_cast<unsigned char*>(slots.data()), now * sizeof(LiveMapSlot)});
    for (size_t i = 0; i < now; ++i) {
      const auto& [key, value] = slots[i];
      const uint64_t address = key & kSlotAddressBits;
      if (address == 0 || (key & kSlotTentative) != 0 || (done + i) % each == each - 1) continue;
      const uint64_t size = (value & kSlotSizeLowMask) | (key >> kSlotSizeHighShift)
                                                             << kSlotSizeLowBits;
      entries.push_back({{address, size & (kHighestAddress - 1),
                          static_cast<uint32_t>(value >> kSlotSizeLowBits)},
                         (key & kSlotMoving) != 0,
                         (key & kSlotTaken) != 0});
    }
  }
}

// True if a table of `bytes` may be there.
bool Fits(uint64_t at, uint64_t bytes) {
  return at % 8 == 0 && at < kHighestAddress && bytes <= kHighestAddress - at;
}

}  // namespace

Result<std::vector<LiveBlock>> ReadLiveMap(const MemorySource& memory, uint64_t map) {
  LiveMapWords words = {};
  memory.Read(map, {reinterpret_cast<unsigned char*>(&words), sizeof words});
  const uint64_t buckets = words.state & ~kMapSplitting;
  const bool splitting = (words.state & kMapSplitting) != 0;
  if (buckets == 0) return std::vector<LiveBlock>();
  if (buckets > kMostBuckets || words.groups_used > kMostGroups ||
      !Fits(words.buckets, (buckets + 1) * kBucketSlotsAndLink * sizeof(LiveMapSlot)) ||
      !Fits(words.groups, words.groups_used * kGroupSlotsAndLink * sizeof(LiveMapSlot))) {
    return Fail(ErrorKind::kUnreadable, "the program's table of live blocks is damaged");
  }
  std::vector<Entry> entries;
  AddEntries(memory, words.buckets, buckets, kBucketSlotsAndLink, entries);
  AddEntries(memory, words.groups, words.groups_used, kGroupSlotsAndLink, entries);
  // The entry that counts comes first: while a bucket is being filled the moving one, whose copy may
  // not have its value yet; afterwards only the copy.
  if (!splitting) std::erase_if(entries, [](const Entry& entry) { return entry.moving; });
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tuple(a.block.address, !a.moving, a.block.size, a.block.cell) <
           std::tuple(b.block.address, !b.moving, b.block.size, b.block.cell);
  });
  std::vector<LiveBlock> blocks;
  blocks.reserve(entries.size());
  uint64_t last = 0;
  for (const Entry& entry : entries) {
    if (entry.block.address == last) continue;
    last = entry.block.address;
    if (!entry.taken) blocks.push_back(entry.block);
  }
  return blocks;
}

Result<std::vector<LiveBlock>> ReadLiveBlocks(const MemorySource& memory,
                                              const HeapPlaces& places) {
  auto blocks = ReadLiveMap(memory, places.live_map.load(std::memory_order_acquire));
  if (!blocks) return blocks;
  const uint32_t maps = std::min(places.inherited_count, kMostInherited);
  if (maps == 0) return blocks;
  if (places.inherited_stride < sizeof(LiveMapWords) || places.inherited_stride > kLargestStride) {
    return Fail(ErrorKind::kUnreadable, "the program's tables of inherited blocks are damaged");
  }
  for (uint32_t i = 0; i < maps; ++i) {
    auto inherited =
        ReadLiveMap(memory, places.inherited_maps + uint64_t{i} * places.inherited_stride);
    if (!inherited) return inherited;
    for (LiveBlock& block : *inherited) {
      block.inherited = true;
      blocks->push_back(block);
    }
  }
  // A block of its own comes before an inherited one of the same address, which is then an old one.
  std::stable_sort(blocks->begin(), blocks->end(),
                   [](const LiveBlock& a, const LiveBlock& b) { return a.address < b.address; });
  blocks->erase(
      std::unique(blocks->begin(), blocks->end(),
                  [](const LiveBlock& a, const LiveBlock& b) { return a.address == b.address; }),
      blocks->end());
  return blocks;
}

}  // namespace memprof
