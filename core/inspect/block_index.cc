#include "core/inspect/block_index.h"

#include <algorithm>

namespace memprof {

BlockIndex::BlockIndex(std::span<const LiveBlock> blocks)
    : blocks_(blocks), parts_(kParts >> kLowBits) {
  for (uint32_t i = 0; i < blocks_.size(); ++i) {
    const LiveBlock& block = blocks_[i];
    const uint64_t part = block.address >> kPartBits;
    if (i == 0 || blocks_[i - 1].address >> kPartBits != part) Cover(part, i);
    if (block.size >= kLarge) {
      large_.push_back(i);
      continue;
    }
    const uint64_t last = (EndOf(block) - 1) >> kPartBits;
    if (last != part && last < kParts) Cover(last, i + 1);
  }
}

// Fills the granules of a part, unless they are filled. `first`: the first block that may begin in it.
void BlockIndex::Cover(uint64_t part, uint32_t first) {
  auto& middle = parts_[part >> kLowBits];
  if (middle == nullptr) {
    middle = std::make_unique<std::array<uint32_t, kLow>>();
    middle->fill(kNoBlock);
  }
  uint32_t& number = (*middle)[part & (kLow - 1)];
  if (number != kNoBlock) return;
  if (first_.size() / kGranules >= kMostParts + blocks_.size() / kBlocksAPart) {
    has_more_parts_ = true;
    return;
  }
  number = static_cast<uint32_t>(first_.size() / kGranules);
  for (uint64_t granule = 0; granule < kGranules; ++granule) {
    const uint64_t begin = part << kPartBits | granule << kGranuleBits;
    while (first < blocks_.size() && blocks_[first].address < begin) ++first;
    first_.push_back(first);
  }
}

uint32_t BlockIndex::FindSlowly(uint64_t address) const {
  if (has_more_parts_) {
    const uint32_t after = FirstFrom(address + 1);
    if (after != 0 && address < EndOf(blocks_[after - 1])) return after - 1;
  }
  const auto after =
      std::upper_bound(large_.begin(), large_.end(), address,
                       [this](uint64_t at, uint32_t i) { return at < blocks_[i].address; });
  if (after == large_.begin()) return kNoBlock;
  return address < EndOf(blocks_[*(after - 1)]) ? *(after - 1) : kNoBlock;
}

uint32_t BlockIndex::FirstFrom(uint64_t address) const {
  return static_cast<uint32_t>(
      std::lower_bound(blocks_.begin(), blocks_.end(), address,
                       [](const LiveBlock& block, uint64_t at) { return block.address < at; }) -
      blocks_.begin());
}

}  // namespace memprof
