#include "aggregator/unwind/nested_stack.h"

#include <atomic>

#include "aggregator/basics/private_memory.h"

namespace memprof {
namespace {

// The number of events that may have one at once: one for each thread of a crowd.
constexpr size_t kStacks = 4096;

// Invariant: whoever changed `used` from 0 to 1 has the memory until it sets 0. The release of 0
// pairs with the acquire of 1: the next one sees the pointer and what was written there.
struct Entry {
  std::atomic<uint32_t> used;
  std::atomic<StackMemory*> memory;
};
constinit Entry entries[kStacks] = {};

}  // namespace

void ForgetNestedStacks() {
  for (Entry& entry : entries) {
    if (entry.used.load(std::memory_order_relaxed) != 0) entry.used.store(0);
  }
}

NestedStack::NestedStack() {
  for (Entry& entry : entries) {
    uint32_t free = 0;
    if (entry.used.load(std::memory_order_relaxed) != 0 ||
        !entry.used.compare_exchange_strong(free, 1, std::memory_order_acquire)) {
      continue;
    }
    StackMemory* memory = entry.memory.load(std::memory_order_relaxed);
    if (memory == nullptr) {
      memory = static_cast<StackMemory*>(MapMemory(sizeof(StackMemory)));
      if (memory != nullptr) CountPrivateBytes(sizeof(StackMemory));
      entry.memory.store(memory, std::memory_order_relaxed);
    }
    if (memory == nullptr) {
      entry.used.store(0, std::memory_order_release);
      return;
    }
    memory->depth = 0;  // forgets another thread's stack
    memory_ = memory;
    index_ = static_cast<size_t>(&entry - entries);
    return;
  }
}

NestedStack::~NestedStack() {
  if (memory_ != nullptr) entries[index_].used.store(0, std::memory_order_release);
}

}  // namespace memprof
