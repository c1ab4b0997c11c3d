#include "aggregator/client/heaviest_stacks.h"

#include <cstring>

#include "aggregator/basics/private_memory.h"
#include "core/protocol/allocator_kind.h"

namespace memprof {

HeaviestStacks::~HeaviestStacks() {
  if (entries_ != nullptr) UnmapMemory(entries_, bytes_);
}

int64_t HeaviestStacks::WeightOf(const Entry& entry) const {
  if (order_ == MEMPROF_BY_ALLOCATIONS) return entry.row.count;
  const bool by_size = order_ == MEMPROF_BY_GROWTH && entry.row.bytes < 0;
  return by_size ? -entry.row.bytes : entry.row.bytes;
}

bool HeaviestStacks::Lighter(const Entry& a, const Entry& b) const {
  const int64_t first = WeightOf(a);
  const int64_t second = WeightOf(b);
  return first != second ? first < second : a.site > b.site;
}

void HeaviestStacks::SiftDown(size_t at, size_t count) {
  const Entry moved = entries_[at];
  for (size_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
    if (child + 1 < count && Lighter(entries_[child], entries_[child + 1])) ++child;
    if (!Lighter(moved, entries_[child])) break;
    entries_[at] = entries_[child];
    at = child;
  }
  entries_[at] = moved;
}

void HeaviestStacks::Take(const Region& region, const Segments& segments, ScopeId scope,
                          memprof_order order) {
  region_ = &region;
  order_ = order;
  ScopeOrder rows;
  switch (order) {
    case MEMPROF_BY_PEAK:
      rows = ScopeOrder::kPeak;
      break;
    case MEMPROF_BY_LEAKED:
      rows = ScopeOrder::kLeaked;
      break;
    case MEMPROF_BY_GROWTH:
      rows = ScopeOrder::kGrowth;
      break;
    case MEMPROF_BY_ALLOCATIONS:
    case MEMPROF_BY_ALLOCATED:
      rows = ScopeOrder::kAllocated;
      break;
    default:
      return;
  }
  const uint32_t sites = segments.Sites(scope);
  for (uint32_t site = 0; site < sites; ++site) {
    count_ += segments.Row(scope, rows, site) != SiteRow{};
  }
  if (count_ == 0) return;
  bytes_ = count_ * sizeof(Entry);
  entries_ = static_cast<Entry*>(MapMemory(bytes_));
  if (entries_ == nullptr) {
    count_ = 0;
    return;
  }
  size_t used = 0;
  for (uint32_t site = 0; site < sites; ++site) {
    const SiteRow row = segments.Row(scope, rows, site);
    if (row != SiteRow{}) entries_[used++] = {row, site};
  }
  for (size_t at = count_ / 2; at-- > 0;) SiftDown(at, count_);
}

void HeaviestStacks::Each(size_t most, memprof_stack_callback callback, void* context) {
  for (size_t left = count_; left != 0 && most != 0; --most) {
    const Entry heaviest = entries_[0];
    entries_[0] = entries_[--left];
    SiftDown(0, left);
    if (Call(heaviest, callback, context) != 0) return;
  }
}

int HeaviestStacks::Call(const Entry& entry, memprof_stack_callback callback, void* context) const {
  const SiteRecord& site = region_->Records<SiteRecord>(Table::kSites)[entry.site];
  const auto* nodes = region_->Records<NodeRecord>(Table::kNodes);
  uintptr_t frames[kMaxFrames];
  uint32_t count = 0;
  bool complete = true;
  uint32_t node = site.node.load(std::memory_order_acquire);
  for (; node != 0 && count < kMaxFrames; node = nodes[node].parent) {
    const uint64_t pc = nodes[node].pc.load(std::memory_order_acquire);
    if (pc >= kFirstRealPc) {
      frames[count++] = pc;
    } else {
      complete = false;
    }
  }
  char name[sizeof(ThreadNameRecord) + 1] = {};
  memcpy(name,
         region_->Records<ThreadNameRecord>(Table::kThreadNames)[ThreadNameOf(site.label)].name,
         sizeof(ThreadNameRecord));
  const memprof_stack stack = {sizeof(memprof_stack),
                               count,
                               frames,
                               complete && count != 0 ? 1 : 0,
                               name,
                               NameOf(static_cast<AllocatorKind>(KindOf(site.label))),
                               entry.row.bytes,
                               entry.row.count};
  return callback(&stack, context);
}

}  // namespace memprof
