#include "core/inspect/pinned_pages.h"

#include <algorithm>

#include "core/inspect/block_index.h"

namespace memprof {
namespace {

struct Share {
  uint32_t group;
  uint64_t bytes;
};

class Finder {
 public:
  Finder(const MemorySource& memory, const Slabs& slabs, uint32_t groups)
      : memory_(memory), slabs_(slabs), found_(groups) {}

  void Add(const LiveBlock& block, uint32_t group) {
    const uint64_t end = EndOf(block);
    // Blocks of a damaged table may overlap: their bytes are the first one's.
    const uint64_t start = std::max(block.address, covered_);
    if (start >= end) return;
    covered_ = end;
    const AddressRange slab = slabs_.Of(block.address, block.size);
    // A piece that overlaps the one before isn't what it seems to be.
    const bool is_in_slab =
        slab.begin < slab.end && end <= slab.end && (slab == piece_ || slab.begin >= piece_.end);
    for (uint64_t page = start / kPage; page * kPage < end; ++page) {
      if (is_in_slab) {
        Enter(slab);
      } else if (page * kPage >= piece_.end) {
        Enter({page * kPage, (page + 1) * kPage});
      }
      const uint64_t begin = std::max(start, page * kPage);
      const uint64_t bytes = std::min(end, (page + 1) * kPage) - begin;
      AddShare(group, IsResident(page) ? bytes : 0);
      // The pages within a block that were never touched may be very many.
      if (end - page * kPage > kPage && !IsResident(page + 1)) {
        const uint64_t next = memory_.SkipZeros((page + 1) * kPage, end) / kPage;
        page = std::max(page, next - 1);
      }
    }
  }

  std::vector<PinnedPages> Take() {
    Finish();
    return std::move(found_);
  }

 private:
  void Enter(const AddressRange& piece) {
    if (piece == piece_) return;
    Finish();
    piece_ = piece;
  }

  void AddShare(uint32_t group, uint64_t bytes) {
    const auto share = std::find_if(shares_.begin(), shares_.end(),
                                    [group](const Share& one) { return one.group == group; });
    if (share != shares_.end()) {
      share->bytes += bytes;
    } else {
      shares_.push_back({group, bytes});
    }
  }

  bool IsResident(uint64_t page) {
    if (page < first_ || page - first_ >= resident_.size()) {
      first_ = page;
      resident_.resize(kPagesAtOnce);
      memory_.Resident(page, resident_);
    }
    return resident_[page - first_] != 0;
  }

  void Finish() {
    if (!shares_.empty()) {
      uint64_t resident = 0;
      for (uint64_t page = piece_.begin / kPage; page < piece_.end / kPage; ++page) {
        if (IsResident(page)) resident += kPage;
      }
      uint64_t live = 0;
      for (const Share& share : shares_) live += share.bytes;
      uint64_t left = resident - std::min(live, resident);
      const uint64_t free = left;
      if (shares_.size() == 1) found_[shares_[0].group].alone_bytes += resident;
      for (size_t i = 0; i < shares_.size(); ++i) {
        const bool is_last = i + 1 == shares_.size();
        const uint64_t part =
            is_last ? left : std::min(left, free * shares_[i].bytes / std::max<uint64_t>(live, 1));
        found_[shares_[i].group].free_bytes += part;
        left -= part;
      }
    }
    shares_.clear();
  }

  static constexpr size_t kPagesAtOnce = 4096;

  const MemorySource& memory_;
  const Slabs& slabs_;
  std::vector<PinnedPages> found_;
  uint64_t covered_ = 0;  // up to here bytes have their block
  AddressRange piece_;
  std::vector<Share> shares_;  // of the piece: bytes on resident pages
  uint64_t first_ = 0;
  std::vector<unsigned char> resident_;
};

}  // namespace

std::vector<PinnedPages> FindPinnedPages(const MemorySource& memory, const Slabs& slabs,
                                         std::span<const LiveBlock> blocks, uint32_t groups,
                                         const std::function<uint32_t(uint32_t)>& group_of) {
  Finder finder(memory, slabs, groups);
  for (size_t i = 0; i < blocks.size(); ++i) {
    finder.Add(blocks[i], group_of(static_cast<uint32_t>(i)));
  }
  return finder.Take();
}

}  // namespace memprof
