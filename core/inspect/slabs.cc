#include "core/inspect/slabs.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "core/inspect/memory_source.h"

namespace memprof {
namespace {

constexpr uint32_t kNoOffset = ~uint32_t{0};

// Four classes to each doubling, and multiples of 16 below.
constexpr uint64_t kJemallocsQuantum = 16;
constexpr uint64_t kJemallocsLargestSmall = 14336;

constexpr uint64_t kTcmallocsPage = 8192;
constexpr uint64_t kTcmallocsLargestSmall = 256 * 1024;
constexpr uint64_t kTcmallocsMoved = 64 * 1024;  // bytes between its caches at once, about
constexpr uint64_t kTcmallocsMostMoved = 32;     // blocks

constexpr uint64_t kMimallocsSlice = 64 * 1024;
constexpr uint64_t kMimallocsLargestSmall = kMimallocsSlice / 4;

}  // namespace

Slabs::Slabs(std::string_view library) {
  if (library.starts_with("libjemalloc")) {
    AddJemallocs();
  } else if (library.starts_with("libtcmalloc")) {
    AddTcmallocs();
  } else if (library.starts_with("libmimalloc")) {
    aligned_ = kMimallocsSlice;
    most_ = kMimallocsLargestSmall;
  }
}

Slabs::SizeClass Slabs::Make(uint64_t size, uint64_t slab, uint64_t align) {
  SizeClass made = {size, slab, align, std::gcd(size, align)};
  made.offsets.assign(align / made.unit, kNoOffset);
  std::vector<bool> twice(made.offsets.size(), false);
  for (uint64_t offset = 0; offset + size <= slab; offset += size) {
    const uint64_t at = offset % align / made.unit;
    twice[at] = made.offsets[at] != kNoOffset;
    made.offsets[at] = static_cast<uint32_t>(offset);
  }
  for (size_t i = 0; i < twice.size(); ++i) {
    if (twice[i]) made.offsets[i] = kNoOffset;
  }
  return made;
}

// A slab is as long as it takes to have no rest.
void Slabs::AddJemallocs() {
  for (uint64_t size = 8; size <= kJemallocsLargestSmall;) {
    classes_.push_back(Make(size, std::lcm(size, kPage), kPage));
    const uint64_t step = std::max(kJemallocsQuantum, std::bit_floor(size) / 4);
    size = size < kJemallocsQuantum ? kJemallocsQuantum : size + step;
  }
}

// A slab is as many pages as it takes for a rest of at most an eighth, and for a quarter of the blocks
// that go between its caches at once. A class with as many pages and blocks as the one before takes
// its place.
void Slabs::AddTcmallocs() {
  std::vector<std::pair<uint64_t, uint64_t>> sizes;  // and slabs
  for (uint64_t size = 8; size <= kTcmallocsLargestSmall;) {
    const uint64_t moved = std::clamp(kTcmallocsMoved / size, uint64_t{2}, kTcmallocsMostMoved) / 4;
    uint64_t slab = kTcmallocsPage;
    while (slab % size > slab / 8 || slab / size < moved) slab += kTcmallocsPage;
    const bool is_as_before =
        !sizes.empty() && sizes.back().second == slab && slab / sizes.back().first == slab / size;
    if (is_as_before) sizes.pop_back();
    sizes.emplace_back(size, slab);
    const uint64_t step = size >= 128 ? std::bit_floor(size) / 8 : size >= 16 ? 16 : 8;
    size += std::min(step, kTcmallocsPage);
  }
  for (const auto& [size, slab] : sizes) classes_.push_back(Make(size, slab, kTcmallocsPage));
}

AddressRange Slabs::Of(uint64_t address, uint64_t size) const {
  if (most_ != 0) {
    if (size > most_) return {};
    const uint64_t begin = address / aligned_ * aligned_;
    return {begin, begin + aligned_};
  }
  const auto found =
      std::lower_bound(classes_.begin(), classes_.end(), size,
                       [](const SizeClass& one, uint64_t wanted) { return one.size < wanted; });
  if (found == classes_.end()) return {};
  const uint64_t rest = address % found->align;
  if (rest % found->unit != 0) return {};  // of a larger class: it was asked for with an alignment
  const uint32_t offset = found->offsets[rest / found->unit];
  if (offset == kNoOffset || offset > address) return {};
  return {address - offset, address - offset + found->slab};
}

}  // namespace memprof
