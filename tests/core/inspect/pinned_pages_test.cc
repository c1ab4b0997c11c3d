#include "core/inspect/pinned_pages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

namespace memprof {
namespace {

class Pages : public MemorySource {
 public:
  void Read(uint64_t, std::span<unsigned char> to) const override {
    std::fill(to.begin(), to.end(), static_cast<unsigned char>(0));
  }
  uint64_t SkipZeros(uint64_t begin, uint64_t end) const override {
    const auto next = resident.lower_bound(begin / kPage);
    return next == resident.end() ? end : std::min(end, std::max(begin, *next * kPage));
  }
  void Resident(uint64_t page, std::span<unsigned char> is) const override {
    for (size_t i = 0; i < is.size(); ++i) is[i] = resident.count(page + i) != 0 ? 1 : 0;
  }

  std::set<uint64_t> resident;
};

std::vector<PinnedPages> Find(const Pages& pages, const std::vector<LiveBlock>& blocks,
                              const std::vector<uint32_t>& groups, const char* library = "") {
  const uint32_t most = *std::max_element(groups.begin(), groups.end());
  return FindPinnedPages(pages, Slabs(library), blocks, most + 1,
                         [&](uint32_t i) { return groups[i]; });
}

// jemalloc's slabs of blocks of 224 bytes have 28,672.
TEST(PinnedPages, AreThoseOfWholeSlabs) {
  Pages pages;
  pages.resident = {16, 17, 18, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30};
  const std::vector<LiveBlock> blocks = {
      {0x10000, 200}, {0x10000 + 127 * 224, 224}, {0x17000 + 224, 210}, {0x17000 + 3 * 224, 200}};
  const auto found = Find(pages, blocks, {0, 0, 1, 2}, "libjemalloc.so.2");
  // One page of the first slab isn't resident. Both have a part of the second.
  EXPECT_EQ(found[0], (PinnedPages{6 * 4096, 6 * 4096 - 424}));
  EXPECT_EQ(found[1], (PinnedPages{0, (28672 - 410) * 210 / 410}));
  EXPECT_EQ(found[1].free_bytes + found[2].free_bytes, 28672 - 410u);
}

TEST(PinnedPages, AreOneGroupsAloneOrSharedByBytes) {
  Pages pages;
  pages.resident = {16, 17, 18};
  const std::vector<LiveBlock> blocks = {
      {0x10000, 1000}, {0x10800, 96}, {0x11000, 300}, {0x11800, 100}, {0x20000, 500}};
  const auto found = Find(pages, blocks, {0, 0, 0, 1, 2});
  // The first page is group 0's; of the second, 3,696 are free.
  EXPECT_EQ(found[0], (PinnedPages{4096, 3000 + 2772}));
  EXPECT_EQ(found[1], (PinnedPages{0, 924}));
  EXPECT_EQ(found[2], PinnedPages{});  // not resident
}

TEST(PinnedPages, OfALargeBlockAreThoseThatWereTouched) {
  Pages pages;
  pages.resident = {16, 17, 1000};
  const std::vector<LiveBlock> blocks = {{0x10000, uint64_t{1} << 40}};
  EXPECT_EQ(Find(pages, blocks, {0})[0], (PinnedPages{3 * 4096, 0}));
}

TEST(PinnedPages, SumToWhatIsFreeOnThem) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Pages pages;
    for (uint64_t page = 16; page < 80; ++page) {
      if (random() % 3 != 0) pages.resident.insert(page);
    }
    std::vector<LiveBlock> blocks;
    std::vector<uint32_t> groups;
    for (uint64_t at = 0x10000; at < 0x4e000; at += random() % 3000 * 8) {
      const uint64_t size = random() % 20 == 0 ? 3 * kPage : random() % 200;
      blocks.push_back({at, size});
      groups.push_back(random() % 4);
      at += (size + 16) / 8 * 8;
    }
    std::vector<uint64_t> live(200, 0);  // by page
    for (const LiveBlock& block : blocks) {
      for (uint64_t byte = 0; byte < std::max<uint64_t>(block.size, 1); ++byte) {
        ++live[(block.address + byte) / kPage];
      }
    }
    uint64_t free = 0;
    for (const uint64_t page : pages.resident) free += live[page] != 0 ? kPage - live[page] : 0;
    const auto found = Find(pages, blocks, groups);
    EXPECT_EQ(
        std::accumulate(found.begin(), found.end(), uint64_t{0},
                        [](uint64_t sum, const PinnedPages& one) { return sum + one.free_bytes; }),
        free);
  }
}

}  // namespace
}  // namespace memprof
