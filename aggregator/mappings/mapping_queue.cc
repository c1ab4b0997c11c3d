#include "aggregator/mappings/mapping_queue.h"

#include <algorithm>
#include <cstring>

#include "aggregator/basics/private_memory.h"
#include "aggregator/basics/signals_blocked.h"

namespace memprof {
namespace {

constexpr uint64_t FreeWord(uint64_t before, uint32_t slot_plus_one) {
  return ((before >> 32) + 1) << 32 | slot_plus_one;
}

}  // namespace

bool MappingQueue::Init() {
  const size_t bytes = DataShare(kMostSlots * sizeof(Slot));
  slots_ = static_cast<Slot*>(MapMemory(bytes));
  slot_count_ = static_cast<uint32_t>(bytes / sizeof(Slot));
  index_ = ReserveMemory(MappingBook::kIndexBytes);
  return slots_ != nullptr && index_ != nullptr;
}

void MappingQueue::Restart() {
  touched_ = std::max(touched_, std::min(fresh_.load(std::memory_order_relaxed), slot_count_));
  fresh_.store(0, std::memory_order_relaxed);
  free_.store(0, std::memory_order_relaxed);
  entered_plus_one_.store(0, std::memory_order_relaxed);
  booking_.store(0, std::memory_order_relaxed);
  if (!has_index_) return;
  memset(index_, 0, MappingBook::kIndexBytes);
  book_.UseMemory(index_);
}

void MappingQueue::NoteTouched(uint32_t slot) {
  if (slot < touched_) return;
  const uint64_t begin = (slot * sizeof(Slot) + kPageBytes - 1) / kPageBytes;
  const uint64_t end = ((slot + 1) * sizeof(Slot) + kPageBytes - 1) / kPageBytes;
  CountPrivateBytes(static_cast<int64_t>((end - begin) * kPageBytes));
}

MappingQueue::Slot* MappingQueue::TakeSlot() {
  uint64_t word = free_.load(std::memory_order_acquire);
  while (static_cast<uint32_t>(word) != 0) {
    Slot& slot = slots_[static_cast<uint32_t>(word) - 1];
    // A thread that took it meanwhile has changed the word as well.
    const uint32_t next = slot.next_plus_one.load(std::memory_order_relaxed);
    if (free_.compare_exchange_weak(word, FreeWord(word, next), std::memory_order_acquire)) {
      return &slot;
    }
  }
  if (fresh_.load(std::memory_order_relaxed) >= slot_count_) return nullptr;
  const uint32_t fresh = fresh_.fetch_add(1, std::memory_order_relaxed);
  if (fresh >= slot_count_) return nullptr;
  NoteTouched(fresh);
  return &slots_[fresh];
}

void MappingQueue::GiveSlot(Slot* slot) {
  uint64_t word = free_.load(std::memory_order_relaxed);
  do {
    slot->next_plus_one.store(static_cast<uint32_t>(word), std::memory_order_relaxed);
  } while (!free_.compare_exchange_weak(word, FreeWord(word, IndexOf(slot) + 1),
                                        std::memory_order_release, std::memory_order_relaxed));
}

void MappingQueue::Enter(const MappingEvent& event) {
  MappingTotals& totals = region_.header().mappings;
  totals.events.fetch_add(1, std::memory_order_relaxed);
  Slot* slot = slots_ != nullptr ? TakeSlot() : nullptr;
  if (slot == nullptr) {
    totals.unentered.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  slot->event = event;
  uint32_t newest = entered_plus_one_.load(std::memory_order_relaxed);
  do {
    slot->next_plus_one.store(newest, std::memory_order_relaxed);
  } while (!entered_plus_one_.compare_exchange_weak(
      newest, IndexOf(slot) + 1, std::memory_order_seq_cst, std::memory_order_relaxed));
  while (entered_plus_one_.load(std::memory_order_seq_cst) != 0) {
    const SignalsBlocked blocked;
    if (booking_.exchange(1, std::memory_order_seq_cst) != 0) return;
    BookAll();
    booking_.store(0, std::memory_order_seq_cst);
  }
}

// Pre: the caller has the right.
void MappingQueue::BookAll() {
  if (!has_index_ && CommitMemory(index_, MappingBook::kIndexBytes)) {
    has_index_ = true;
    book_.UseMemory(index_);
  }
  uint32_t newest = entered_plus_one_.exchange(0, std::memory_order_seq_cst);
  uint32_t oldest = 0;
  while (newest != 0) {  // reverses the list into the order of entering
    Slot& slot = slots_[newest - 1];
    const uint32_t before = slot.next_plus_one.load(std::memory_order_relaxed);
    slot.next_plus_one.store(oldest, std::memory_order_relaxed);
    oldest = newest;
    newest = before;
  }
  while (oldest != 0) {
    Slot& slot = slots_[oldest - 1];
    oldest = slot.next_plus_one.load(std::memory_order_relaxed);
    book_.Book(slot.event);
    GiveSlot(&slot);
  }
}

}  // namespace memprof
