// BlockIndex: from an address to the live block that it points into.
//
//   address ─► 4 MiB part ─► granule of 512 bytes ─► first block that begins at or after it ─► walk
//
// A block of 4 MiB or more also is in a list of its own, which is searched if the walk finds none.
//
// Thread safety: const. Ownership: the blocks must outlive the index, and not change.
// Memory: 32 KiB for each 4 MiB in which a block begins or ends, for at most 8,192 of them and one
// for each 1,024 blocks. In further ones blocks are found by bisection.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/inspect/live_blocks.h"

namespace memprof {

inline constexpr uint32_t kNoBlock = ~uint32_t{0};

// The bytes of a block. One of no bytes has its address.
inline uint64_t EndOf(const LiveBlock& block) {
  return block.address + (block.size != 0 ? block.size : 1);
}

class BlockIndex {
 public:
  // Pre: sorted by address, each address once and below 2^47; fewer than 2^32 - 16 blocks.
  explicit BlockIndex(std::span<const LiveBlock> blocks);

  // The block whose bytes have this address; kNoBlock: none has. If blocks overlap (a damaged table),
  // it is one of them.
  uint32_t Find(uint64_t address) const {
    const uint64_t part = address >> kPartBits;
    if (part >= kParts) return kNoBlock;
    const uint32_t number = parts_[part >> kLowBits] == nullptr
                                ? kNoBlock
                                : (*parts_[part >> kLowBits])[part & (kLow - 1)];
    if (number != kNoBlock) {
      uint32_t next = first_[uint64_t{number} * kGranules + (address >> kGranuleBits) % kGranules];
      while (next < blocks_.size() && blocks_[next].address <= address) ++next;
      if (next != 0 && address < EndOf(blocks_[next - 1])) return next - 1;
    }
    return large_.empty() && !has_more_parts_ ? kNoBlock : FindSlowly(address);
  }

  // The first block that begins at or after the address.
  uint32_t FirstFrom(uint64_t address) const;

 private:
  static constexpr unsigned kGranuleBits = 9;
  static constexpr unsigned kPartBits = 22;
  static constexpr uint64_t kGranules = uint64_t{1} << (kPartBits - kGranuleBits);
  static constexpr uint64_t kParts = uint64_t{1} << (47 - kPartBits);
  static constexpr unsigned kLowBits = 12;
  static constexpr uint64_t kLow = uint64_t{1} << kLowBits;
  static constexpr uint64_t kMostParts = 8192;
  static constexpr uint64_t kBlocksAPart = 1024;
  static constexpr uint64_t kLarge = uint64_t{1} << kPartBits;

  void Cover(uint64_t part, uint32_t first);
  uint32_t FindSlowly(uint64_t address) const;

  std::span<const LiveBlock> blocks_;
  std::vector<std::unique_ptr<std::array<uint32_t, kLow>>> parts_;  // numbers of parts, or kNoBlock
  std::vector<uint32_t> first_;                                     // by part and granule
  std::vector<uint32_t> large_;
  bool has_more_parts_ = false;  // than there is memory for
};

}  // namespace memprof
