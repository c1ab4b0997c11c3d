// The children's area as the supervisor uses it, written by another process before and between its
// looks. The supervisor must stay within the area: each claim is of an existing slot and is
// reported once until the slot is freed; a claim's region is in its slot; nothing outside the
// header and the freed slots is changed.
//
//   input   12 bytes a step: the action, the place, a value
//             0 to 3   a word of the header's first bytes or of a claim is written
//             4        a word of a slot's region's header
//             5        the supervisor looks for claims and reads the claimed slots
//             6        … and frees a slot that was reported
//             7        asks who has a slot
//             8, 9     a word of the first page of a table of a slot's region, or of its counts
//
// Claimed slots are read as the supervisor reads them: the peak, a moment, the mappings and the
// allocator's figures, and once for each input everything.

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <set>
#include <utility>

#include "cli/supervisor/tree/children_area_file.h"
#include "core/region/region_history.h"
#include "core/region/region_mappings.h"
#include "core/region/region_reader.h"
#include "core/region/region_view.h"

namespace {

using namespace memprof;

constexpr uint32_t kSlots = 4;
constexpr size_t kStepBytes = 12;

void Require(bool condition) {
  if (!condition) std::abort();
}

void ReadAll(const RegionPlace& place) {
  if (const auto view = RegionView::Open(place)) {
    uint64_t covered = 0;
    for (const LiveRange& range : ReadRanges(*view)) {
      Require(range.start >= covered && range.start < range.end);
      covered = range.end;
    }
    (void)ReadAllocator(*view);
  }
  RegionHistory history;
  if (const auto moment = ReadMoment(place, 16)) history.moments.push_back(*moment);
  const Result<Snapshot> snapshot = ReadRegion(place, {}, history);
  if (!snapshot) return;
  for (const SnapshotSite& site : snapshot->sites) Require(site.node < snapshot->nodes.size());
}

struct Fuzzed {
  explicit Fuzzed(ChildrenAreaFile made) : area(std::move(made)) {
    layout = LayOutChildren(kSlots);
    base = static_cast<unsigned char*>(
        mmap(nullptr, area.bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, area.fd(), 0));
    Require(base != MAP_FAILED && area.bytes() == layout.bytes());
  }
  Fuzzed(const Fuzzed&) = delete;

  RegionHeader& RegionIn(uint32_t slot) {
    return *reinterpret_cast<RegionHeader*>(base + layout.OffsetOf(slot) + kPageBytes);
  }
  void WriteTable(uint32_t slot, uint16_t word, uint64_t value) {
    RegionHeader& header = RegionIn(slot);
    const size_t which = word % kTableCount;
    if (word / kTableCount % 4 == 0) {
      header.counts[which] = static_cast<uint32_t>(value % 64);
    } else {
      const uint64_t at = regions->tables[which].offset + word / kTableCount % 64 * 8;
      std::memcpy(reinterpret_cast<unsigned char*>(&header) + at, &value, sizeof value);
    }
  }
  // As it was made, but for the generations.
  void Reset() {
    (void)area.NewClaims();
    for (uint32_t slot = 0; slot < kSlots; ++slot) area.Free(slot);
    std::memset(base, 0, kChildrenHeaderBytes);
    auto& header = *reinterpret_cast<ChildrenHeader*>(base);
    header.magic = kChildrenMagic;
    header.layout = layout;
    told.clear();
  }
  void Look() {
    for (const auto& claim : area.NewClaims()) {
      Require(claim.slot < kSlots && told.insert(claim.slot).second);
      Require(claim.start <= std::chrono::steady_clock::now());
      const RegionPlace place = area.RegionOf(claim.slot);
      Require(place.offset == layout.OffsetOf(claim.slot) + kPageBytes &&
              place.offset + place.bytes == layout.OffsetOf(claim.slot + 1));
      (void)ReadPeak(place);
    }
  }

  ChildrenAreaFile area;
  ChildrenLayout layout;
  std::shared_ptr<const RegionLayout> regions = LayoutFor(kChildRegionBudget);
  unsigned char* base;
  std::set<uint32_t> told;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Fuzzed fuzzed(std::move(*ChildrenAreaFile::Make(kSlots)));
  fuzzed.Reset();
  // Once an input: they cost more than all else.
  bool regions = true;
  bool owners = true;
  for (; size >= kStepBytes; data += kStepBytes, size -= kStepBytes) {
    const uint32_t slot = data[1] % kSlots;
    uint16_t word;
    uint64_t value;
    std::memcpy(&word, data + 2, sizeof word);
    std::memcpy(&value, data + 4, sizeof value);
    switch (data[0] % 10) {
      case 0:
      case 1:
      case 2:
      case 3: {
        const uint64_t bytes = offsetof(ChildrenHeader, claims) + (kSlots + 1) * sizeof(ChildClaim);
        std::memcpy(fuzzed.base + word % (bytes / 8) * 8, &value, sizeof value);
        break;
      }
      case 4:
        if (word % 4 == 0) LayOutRegion(fuzzed.RegionIn(slot), kChildRegionBudget);
        if (word % 4 == 1) fuzzed.RegionIn(slot).state = static_cast<uint32_t>(value);
        if (word % 4 == 2) fuzzed.RegionIn(slot).started_ns = value;
        if (word % 4 == 3) {
          std::memcpy(reinterpret_cast<unsigned char*>(&fuzzed.RegionIn(slot)) +
                          word / 4 % (sizeof(RegionHeader) / 8) * 8,
                      &value, sizeof value);
        }
        break;
      case 5:
        fuzzed.Look();
        if (regions && !fuzzed.told.empty()) {
          regions = false;
          ReadAll(fuzzed.area.RegionOf(*fuzzed.told.begin()));
        }
        break;
      case 6:
        fuzzed.Look();
        if (fuzzed.told.erase(slot) != 0) fuzzed.area.Free(slot);
        break;
      case 7:
        if (std::exchange(owners, false)) (void)fuzzed.area.Has(getpid(), slot);
        break;
      default:
        fuzzed.WriteTable(slot, word, value);
        break;
    }
  }
  struct stat info;
  Require(fstat(fuzzed.area.fd(), &info) == 0 &&
          static_cast<uint64_t>(info.st_size) == fuzzed.layout.bytes());
  return 0;
}
