#include "aggregator/allocator/real_allocator.h"

#include <atomic>
#include <cstring>

#include "aggregator/allocator/find_real.h"
#include "aggregator/tables/module_table.h"

namespace memprof {

constinit RealAllocator real = {};
constinit bool realloc_is_foreign = false;

namespace {

constinit std::atomic<bool> resolving{false};

constexpr size_t kArenaBytes = 64 * 1024;
alignas(4096) unsigned char arena[kArenaBytes];
constinit std::atomic<size_t> arena_used{0};
constexpr size_t kArenaHeader = 16;

// The object that has malloc; the end is stored last. 0: not looked up.
constinit std::atomic<uintptr_t> object_start{0};
constinit std::atomic<uintptr_t> object_end{0};

template <typename Function>
void Resolve(Function*& function, const char* name) {
  void* symbol = FindReal(name);
  memcpy(&function, &symbol, sizeof symbol);
}

}  // namespace

bool ResolveRealAllocator() {
  if (resolving.exchange(true, std::memory_order_acquire)) return real.malloc != nullptr;
  RealAllocator found = {};
  Resolve(found.calloc, "calloc");
  Resolve(found.free, "free");
  Resolve(found.realloc, "realloc");
  Resolve(found.reallocarray, "reallocarray");
  Resolve(found.memalign, "memalign");
  Resolve(found.posix_memalign, "posix_memalign");
  Resolve(found.aligned_alloc, "aligned_alloc");
  Resolve(found.valloc, "valloc");
  Resolve(found.pvalloc, "pvalloc");
  Resolve(found.free_sized, "free_sized");
  Resolve(found.free_aligned_sized, "free_aligned_sized");
  Resolve(found.malloc, "malloc");
  auto* malloc_function = found.malloc;
  found.malloc = nullptr;
  real = found;
  // Stored last: a thread that sees it sees the others.
  __atomic_store_n(&real.malloc, malloc_function, __ATOMIC_RELEASE);
  return true;
}

void* ArenaAllocate(size_t size, size_t alignment) {
  if (size > kArenaBytes || alignment > 4096) return nullptr;
  if (alignment < kArenaHeader) alignment = kArenaHeader;
  size_t used = arena_used.load(std::memory_order_relaxed);
  for (;;) {
    const size_t at = (used + kArenaHeader + alignment - 1) & ~(alignment - 1);
    if (at + size > kArenaBytes) return nullptr;
    if (!arena_used.compare_exchange_weak(used, at + size, std::memory_order_relaxed)) continue;
    memcpy(arena + at - sizeof size, &size, sizeof size);
    return arena + at;
  }
}

bool IsRealAllocators(uintptr_t address) {
  uintptr_t end = object_end.load(std::memory_order_acquire);
  if (end == 0) {
    if (real.malloc == nullptr) return false;
    void* symbol;
    memcpy(&symbol, &real.malloc, sizeof symbol);
    uintptr_t start = 0;
    end = 1;
    ModuleTable::FindRange(symbol, &start, &end);
    object_start.store(start, std::memory_order_relaxed);
    object_end.store(end, std::memory_order_release);
  }
  return address < end && address >= object_start.load(std::memory_order_relaxed);
}

bool InArena(const void* address) {
  return reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(arena) < kArenaBytes;
}

size_t ArenaSize(const void* address) {
  size_t size;
  memcpy(&size, static_cast<const unsigned char*>(address) - sizeof size, sizeof size);
  return size;
}

}  // namespace memprof
