#include "aggregator/tables/thread_slot.h"

#include <cerrno>
#include <cstring>

#include "aggregator/basics/kernel_calls.h"
#include "aggregator/basics/private_memory.h"
#include "aggregator/tables/shared_cells.h"

namespace memprof {
namespace {

constexpr uint32_t kFirstIndexCapacity = 512;  // one page

// The resident memory of a slot whose stacks are not unusually deep: both ends of the remembered
// frames, and the recent stacks.
constexpr int64_t kSlotResidentBytes = 5 * 4096;
static_assert(sizeof(ThreadSlot) > kSlotResidentBytes);

uint64_t* IndexEntry(uint64_t* index, uint32_t capacity, uint32_t site) {
  const uint32_t mask = capacity - 1;
  uint32_t at = (site * 0x9e3779b1u) >> 7 & mask;
  while (index[at] != 0 && index[at] >> 32 != site + 1u) at = (at + 1) & mask;
  return &index[at];
}

bool GrowIndex(ThreadSlot& slot) {
  const uint32_t capacity =
      slot.index_capacity == 0 ? kFirstIndexCapacity : slot.index_capacity * 2;
  auto* index = static_cast<uint64_t*>(MapMemory(capacity * sizeof(uint64_t)));
  if (index == nullptr) return false;
  for (uint32_t i = 0; i < slot.index_capacity; ++i) {
    const uint64_t entry = slot.index[i];
    if (entry != 0) *IndexEntry(index, capacity, static_cast<uint32_t>(entry >> 32) - 1) = entry;
  }
  CountPrivateBytes(int64_t{capacity - slot.index_capacity} * int64_t{sizeof(uint64_t)});
  // In an order that a signal handler may interrupt at any point: the old index is freed last. A
  // capacity that is still the old one only makes entries harder to find.
  uint64_t* const old = slot.index;
  const uint32_t old_capacity = slot.index_capacity;
  slot.index = index;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  slot.index_capacity = capacity;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (old != nullptr) UnmapMemory(old, old_capacity * sizeof(uint64_t));
  return true;
}

}  // namespace

bool SlotCells::Init() {
  owners_bytes_ = uint64_t{region_.capacity(Table::kCellChunks)} * sizeof *owners_;
  owners_ = static_cast<std::atomic<ThreadSlot*>*>(MapMemory(owners_bytes_));
  return owners_ != nullptr;
}

bool SlotCells::Restart() {
  if (owners_ != nullptr) UnmapMemory(owners_, owners_bytes_);
  return Init();
}

uint32_t SlotCells::New(ThreadSlot& slot, uint32_t site) {
  if (slot.chunk_plus_one == 0 || slot.chunk_used == kCellsPerChunk) {
    const uint32_t chunk = TakeOwnChunk(region_);
    if (chunk == kNoRecord) return kNoCell;
    if (chunk % (kPageBytes / sizeof *owners_) == 0) CountPrivateBytes(kPageBytes);
    owners_[chunk].store(&slot, std::memory_order_relaxed);
    // Before any of its cells is in use: those are released below.
    region_.Records<std::atomic<uint32_t>>(Table::kChunkOwners)[chunk].store(
        slot.number + 1, std::memory_order_relaxed);
    slot.chunk_plus_one = chunk + 1;
    slot.chunk_used = 0;
  }
  if (slot.index_used * 2 >= slot.index_capacity && !GrowIndex(slot)) return kNoCell;
  const uint32_t id = (slot.chunk_plus_one - 1) * kCellsPerChunk + slot.chunk_used++;
  region_.details()[id].site_plus_one.store(site + 1, std::memory_order_release);
  CellAt(region_, id).site_plus_one.store(site + 1, std::memory_order_release);
  *IndexEntry(slot.index, slot.index_capacity, site) = uint64_t{site + 1u} << 32 | id;
  ++slot.index_used;
  return id;
}

uint32_t SlotCells::Find(ThreadSlot& slot, uint32_t site) {
  if (slot.index != nullptr) {
    const uint64_t entry = *IndexEntry(slot.index, slot.index_capacity, site);
    if (entry != 0) return static_cast<uint32_t>(entry);
  }
  return New(slot, site);
}

SlotCells::Sums SlotCells::SumOf(const ThreadSlot& slot) const {
  Sums sums = {};
  for (uint32_t i = 0; i < slot.index_capacity; ++i) {
    if (slot.index[i] == 0) continue;
    const Cell& cell = CellAt(region_, static_cast<uint32_t>(slot.index[i]));
    sums.allocated_bytes += cell.allocated_bytes.load(std::memory_order_relaxed);
    sums.allocated_count += cell.allocated_count.load(std::memory_order_relaxed);
    sums.freed_bytes += cell.freed_bytes.load(std::memory_order_relaxed);
  }
  return sums;
}

void SlotCells::Mend(ThreadSlot& slot) {
  slot.recent.Forget();
  slot.name_changed.store(1, std::memory_order_relaxed);
  // An odd sequence says that the cell is being changed.
  for (uint32_t i = 0; i < slot.index_capacity; ++i) {
    if (slot.index[i] == 0) continue;
    Cell& cell = CellAt(region_, static_cast<uint32_t>(slot.index[i]));
    const uint32_t sequence = cell.sequence.load(std::memory_order_relaxed);
    if (sequence % 2 != 0) cell.sequence.store(sequence + 1, std::memory_order_release);
  }
}

VerifiedStacks* NewVerifiedStacks() {
  static constinit std::atomic<uint32_t> made{0};
  if (made.load(std::memory_order_relaxed) >= kMaxVerified ||
      made.fetch_add(1, std::memory_order_relaxed) >= kMaxVerified) {
    return nullptr;
  }
  void* memory = ReserveMemory(sizeof(VerifiedStacks));
  if (memory == nullptr) return nullptr;
  auto* stacks = static_cast<VerifiedStacks*>(memory);
  if (!stacks->CommitFirst(CommitMemory)) {
    UnmapMemory(memory, sizeof(VerifiedStacks));
    return nullptr;
  }
  return stacks;
}

void GrowVerifiedStacks(VerifiedStacks& stacks) {
  static constinit std::atomic<size_t> grown{0};
  const size_t bytes = stacks.BytesToGrow();
  const bool may = grown.fetch_add(bytes, std::memory_order_relaxed) + bytes <= kMaxVerifiedGrowth;
  if (!may) grown.fetch_sub(bytes, std::memory_order_relaxed);
  stacks.Grow([&](void* start, size_t size) {
    // Its first page is in use already.
    const size_t before = reinterpret_cast<uintptr_t>(start) % kPageBytes;
    return may && CommitMemory(static_cast<char*>(start) - before, size + before);
  });
}

ThreadSlot* SlotTable::Acquire(uint32_t tid) {
  ThreadSlot* slot = TakeFree(tid);
  if (slot == nullptr) slot = Create(tid);
  if (slot == nullptr) slot = TakeFromDead(tid);
  if (slot == nullptr) return nullptr;
  slot->taken.fetch_add(1, std::memory_order_relaxed);
  slot->stack.depth = 0;
  if (slot->verified != nullptr) slot->verified->Forget();
  slot->name_changed.store(1, std::memory_order_relaxed);
  slot->last.Forget();
  return slot;
}

void SlotTable::Release(ThreadSlot* slot) { slot->owner.store(0, std::memory_order_release); }

// A thread that is gone may have been in the middle of growing its index. Then `index_capacity` is
// that of the smaller one, and the memory behind it is not given back.
int64_t SlotTable::ForgetThreads(ThreadSlot* own) {
  int64_t pending = 0;
  for (auto& entry : slots_) {
    ThreadSlot* slot = entry.load(std::memory_order_relaxed);
    if (slot == nullptr) break;
    pending += slot->pending;
    slot->pending = 0;
    slot->chunk_plus_one = 0;
    slot->chunk_used = 0;
    if (slot->index != nullptr) {
      UnmapMemory(slot->index, slot->index_capacity * sizeof(uint64_t));
      CountPrivateBytes(-int64_t{slot->index_capacity} * int64_t{sizeof(uint64_t)});
    }
    slot->index = nullptr;
    slot->index_capacity = 0;
    slot->index_used = 0;
    slot->recent.Forget();
    slot->last.Forget();
    if (slot->verified != nullptr) slot->verified->Forget();
    slot->name_changed.store(1, std::memory_order_relaxed);
    slot->watched_live.store(0, std::memory_order_relaxed);
    slot->watched_peak = 0;
    ForgetCaptures(slot->stack);
    if (slot != own) slot->owner.store(0, std::memory_order_relaxed);
  }
  return pending;
}

void SlotTable::MarkRenamed(uint32_t tid) {
  for (auto& entry : slots_) {
    ThreadSlot* slot = entry.load(std::memory_order_acquire);
    if (slot == nullptr) return;
    if (tid == 0 || slot->owner.load(std::memory_order_acquire) == tid) {
      slot->name_changed.store(1, std::memory_order_relaxed);
    }
  }
}

ThreadSlot* SlotTable::TakeFree(uint32_t tid) {
  for (auto& entry : slots_) {
    ThreadSlot* slot = entry.load(std::memory_order_acquire);
    if (slot == nullptr) return nullptr;
    uint32_t free = 0;
    if (slot->owner.load(std::memory_order_relaxed) == 0 &&
        slot->owner.compare_exchange_strong(free, tid, std::memory_order_acq_rel)) {
      return slot;
    }
  }
  return nullptr;
}

// Slots are entered from the front, without gaps.
ThreadSlot* SlotTable::Create(uint32_t tid) {
  if (slots_[kMaxSlots - 1].load(std::memory_order_relaxed) != nullptr) return nullptr;
  auto* slot = static_cast<ThreadSlot*>(MapMemory(sizeof(ThreadSlot)));
  if (slot == nullptr) return nullptr;
  slot->owner.store(tid, std::memory_order_relaxed);
  for (auto& entry : slots_) {
    ThreadSlot* none = nullptr;
    slot->number = static_cast<uint32_t>(&entry - slots_);
    if (entry.load(std::memory_order_relaxed) == nullptr &&
        entry.compare_exchange_strong(none, slot, std::memory_order_acq_rel)) {
      CountPrivateBytes(kSlotResidentBytes);
      count_.fetch_add(1);  // ordered with the sharing of the slack (events/order.cc)
      return slot;
    }
  }
  UnmapMemory(slot, sizeof(ThreadSlot));
  return nullptr;
}

// A thread that ended by the bare system call never released its slot. Asking about an owner is a
// system call, so only a few are asked at a time, in turn.
ThreadSlot* SlotTable::TakeFromDead(uint32_t tid) {
  constexpr uint32_t kAsked = 32;
  if (tid == kUnknownOwner) return nullptr;  // a filter is in force: ask nothing
  const uint32_t pid = kernel::Pid();
  const uint32_t first = next_asked_.fetch_add(kAsked, std::memory_order_relaxed);
  for (uint32_t i = 0; i < kAsked; ++i) {
    ThreadSlot* slot = slots_[(first + i) % kMaxSlots].load(std::memory_order_acquire);
    if (slot == nullptr) continue;
    uint32_t owner = slot->owner.load(std::memory_order_acquire);
    if (owner == 0 || owner == kUnknownOwner) continue;
    if (kernel::Call(SYS_tgkill, pid, owner, 0) != -ESRCH) continue;
    if (slot->owner.compare_exchange_strong(owner, tid, std::memory_order_acq_rel)) return slot;
  }
  return nullptr;
}

}  // namespace memprof
