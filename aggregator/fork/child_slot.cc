#include "aggregator/fork/child_slot.h"

#include <sys/mman.h>
#include <unistd.h>

#include "aggregator/system_calls.h"

namespace memprof {
namespace {

constexpr uint32_t kNoSlot = 0xffffffffu;

constinit ChildrenHeader* area = nullptr;
constinit ImageId own_image = 0;
constinit uint32_t own_slot = kNoSlot;
constinit bool foreign_pids = false;

unsigned char* SlotAt(uint32_t slot) {
  return reinterpret_cast<unsigned char*>(area) + OffsetOfSlot(*area, slot);
}

uint32_t TakeFreeSlot(uint32_t pid) {
  const uint32_t count = area->slots;
  const uint32_t first = area->next.fetch_add(1, std::memory_order_relaxed);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t slot = (first + i) % count;
    uint32_t free = 0;
    // Acquire: the supervisor has given the last owner's memory back.
    if (area->claims[slot].owner.load(std::memory_order_relaxed) == 0 &&
        area->claims[slot].owner.compare_exchange_strong(free, pid, std::memory_order_acq_rel)) {
      return slot;
    }
  }
  return kNoSlot;
}

// Who has which slot is told by the one guard page that isn't accessible (children_area.h). The
// parent's mapping was inherited with its guard.
bool MarkOwn(uint32_t slot) {
  if (own_slot != kNoSlot) mprotect(SlotAt(own_slot), kPageBytes, PROT_READ | PROT_WRITE);
  own_slot = slot;
  return mprotect(SlotAt(slot), kPageBytes, PROT_NONE) == 0;
}

}  // namespace

void UseChildrenArea(const MappedRegion& mapped) {
  auto* header = static_cast<ChildrenHeader*>(mapped.children);
  if (header == nullptr || mapped.children_bytes < sizeof(ChildrenHeader) ||
      header->magic != kChildrenMagic || header->region_version != kRegionVersion ||
      header->slots == 0 || header->slots > kMaxChildSlots ||
      mapped.children_bytes < OffsetOfSlot(*header, header->slots)) {
    return;
  }
  area = header;
  own_image = mapped.image;
  foreign_pids = mapped.foreign_pids;
}

bool FollowsChildren() { return area != nullptr; }

MappedRegion ClaimChildSlot(const TrackerOptions& options) {
  if (area == nullptr) return {};
  // In strict mode not even mprotect.
  const uint32_t slot =
      MayMapMemory()
          ? TakeFreeSlot(SystemCallsFiltered() ? kUnknownPid : static_cast<uint32_t>(getpid()))
          : kNoSlot;
  if (slot == kNoSlot || !MarkOwn(slot)) {
    if (slot != kNoSlot) GiveUpChildSlot();
    area->refused.fetch_add(1, std::memory_order_relaxed);
    return {};
  }
  ChildClaim& claim = area->claims[slot];
  claim.parent = own_image;
  // Whose parent is in another namespace has none that it could name.
  foreign_pids = foreign_pids || (!SystemCallsFiltered() && getppid() == 0);
  claim.foreign_pids = foreign_pids ? 1 : 0;
  own_image = ImageOfSlot(slot, claim.generation.load(std::memory_order_relaxed));
  area->claimed.fetch_add(1, std::memory_order_release);
  MappedRegion region;
  region.base = SlotAt(slot) + kPageBytes;
  region.bytes = area->slot_bytes - kPageBytes;
  auto* header = static_cast<RegionHeader*>(region.base);
  LayOutRegion(*header, kChildRegionBudget);
  header->options = options;
  return region;
}

// The region's state stays kEmpty: the supervisor frees the slot when the process has ended.
void GiveUpChildSlot() {
  area->refused.fetch_add(1, std::memory_order_relaxed);
  area = nullptr;
}

}  // namespace memprof
