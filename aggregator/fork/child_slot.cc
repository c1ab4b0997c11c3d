#include "aggregator/fork/child_slot.h"

#include "aggregator/basics/kernel_calls.h"
#include "aggregator/basics/system_calls.h"

namespace memprof {
namespace {

constexpr uint32_t kNoSlot = 0xffffffffu;

constinit ChildrenHeader* area = nullptr;
constinit ChildrenLayout layout;  // the checked copy: other processes may write the area
constinit ImageId own_image = 0;
constinit uint32_t own_slot = kNoSlot;
constinit uint32_t own_generation = 0;  // generation of own_slot
constinit bool foreign_pids = false;

unsigned char* SlotAt(uint32_t slot) {
  return reinterpret_cast<unsigned char*>(area) + layout.OffsetOf(slot);
}

uint32_t TakeFreeSlot(uint32_t owner) {
  const uint32_t count = layout.slots;
  const uint32_t first = area->next.fetch_add(1, std::memory_order_relaxed);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t slot = (first + i) % count;
    uint32_t free = 0;
    // Acquire: the supervisor gave the last owner's memory back before.
    if (area->claims[slot].owner.load(std::memory_order_relaxed) == 0 &&
        area->claims[slot].owner.compare_exchange_strong(free, owner, std::memory_order_acq_rel)) {
      return slot;
    }
  }
  return kNoSlot;
}

// The supervisor finds a slot's owner by the only guard page that is readable (children_area.h).
// The mapping inherited from the parent has a readable one too, which is hidden here. The parent's
// region stays readable: the child still reads it.
bool MarkOwn(uint32_t slot) {
  if (own_slot != kNoSlot) kernel::Protect(SlotAt(own_slot), kPageBytes, PROT_NONE);
  own_slot = slot;
  return kernel::Protect(SlotAt(slot) + kPageBytes, layout.slot_bytes - kPageBytes,
                         PROT_READ | PROT_WRITE) &&
         kernel::Protect(SlotAt(slot), kPageBytes, PROT_READ);
}

}  // namespace

void UseChildrenArea(const MappedRegion& mapped) {
  auto* header = static_cast<ChildrenHeader*>(mapped.children);
  if (header == nullptr || mapped.children_bytes < sizeof(ChildrenHeader) ||
      header->magic != kChildrenMagic) {
    return;
  }
  const ChildrenLayout ours = LayOutChildren(header->layout.slots, header->layout.region_budget);
  if (ours.slots == 0 || mapped.children_bytes < ours.bytes() ||
      header->layout.region_version != ours.region_version ||
      header->layout.slot_bytes != ours.slot_bytes ||
      header->layout.first_offset != ours.first_offset) {
    return;
  }
  layout = ours;
  area = header;
  // A program that locks its memory (mlockall) would otherwise make all slots resident. If it
  // fails, the slots are as good for everything else.
  kernel::Protect(SlotAt(0), layout.bytes() - layout.first_offset, PROT_NONE);
  own_image = mapped.image;
  foreign_pids = mapped.foreign_pids;
}

void DoubtPids() { foreign_pids = true; }

bool FollowsChildren() { return area != nullptr; }

bool HasParentsRegion() {
  return area == nullptr || own_slot == kNoSlot ||
         area->claims[own_slot].generation.load(std::memory_order_acquire) == own_generation;
}

MappedRegion ClaimChildSlot(const TrackerOptions& options) {
  if (area == nullptr) return {};
  // In strict mode not even mprotect is allowed.
  const uint32_t owner =
      SystemCallsFiltered() ? kUnknownPid : kernel::Pid() | (foreign_pids ? kForeignPid : 0);
  const uint32_t slot = MayMapMemory() ? TakeFreeSlot(owner) : kNoSlot;
  if (slot == kNoSlot) {
    GiveUpChildSlot();
    return {};
  }
  ChildClaim& claim = area->claims[slot];
  // A process with the maximum number of mappings can't protect a single page. The slot isn't given
  // back here: the supervisor may be about to free it, and would then free the next owner's.
  if (!MarkOwn(slot)) {
    GiveUpChildSlot();
    return {};
  }
  claim.parent = own_image;
  own_generation = claim.generation.load(std::memory_order_relaxed);
  own_image = ImageOfSlot(slot, own_generation);
  area->claimed.fetch_add(1, std::memory_order_release);
  MappedRegion region;
  region.base = SlotAt(slot) + kPageBytes;
  region.bytes = layout.slot_bytes - kPageBytes;
  auto* header = static_cast<RegionHeader*>(region.base);
  LayOutRegion(*header, layout.region_budget);
  header->options = options;
  return region;
}

// The region's state stays kEmpty: the supervisor frees the slot when the process has ended.
void GiveUpChildSlot() {
  CountUnfollowed(1);
  area = nullptr;
}

void CountUnfollowed(int32_t by) {
  if (area == nullptr) return;
  area->refused.fetch_add(static_cast<uint64_t>(int64_t{by}), std::memory_order_relaxed);
}

}  // namespace memprof
