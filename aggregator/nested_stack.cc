#include "aggregator/nested_stack.h"

#include <atomic>

#include "aggregator/private_memory.h"

namespace memprof {
namespace {

// As many as threads may be in this state at once; the memory comes with the first use.
constexpr size_t kStacks = 64;

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
    memory->depth = 0;  // nothing of another thread's stack is known here
    memory_ = memory;
    return;
  }
}

NestedStack::~NestedStack() {
  if (memory_ == nullptr) return;
  for (Entry& entry : entries) {
    if (entry.memory.load(std::memory_order_relaxed) != memory_) continue;
    entry.used.store(0, std::memory_order_release);
    return;
  }
}

}  // namespace memprof
