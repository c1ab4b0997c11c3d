#include "aggregator/hooks/python_allocators.h"

#include <cstdint>
#include <cstring>

#include "aggregator/basics/loaded_symbols.h"
#include "aggregator/hooks/hook.h"
#include "aggregator/mappings/mappings.h"
#include "aggregator/unwind/unwind_data.h"

namespace memprof {
namespace {

// PyMemAllocatorEx and PyMemAllocatorDomain, the same since 3.5.
struct PythonAllocator {
  void* context;
  void* (*malloc)(void* context, size_t size);
  void* (*calloc)(void* context, size_t count, size_t size);
  void* (*realloc)(void* context, void* address, size_t size);
  void (*free)(void* context, void* address);
};
// PyObjectArenaAllocator.
struct ArenaAllocator {
  void* context;
  void* (*alloc)(void* context, size_t size);
  void (*free)(void* context, void* address, size_t size);
};
using AskAllocator = void(int domain, PythonAllocator* allocator);
using AskArenas = void(ArenaAllocator* allocator);
constexpr int kDomains[] = {1, 2};  // MEM and OBJ

// The interpreter's own; ours have them as their context.
constinit PythonAllocator own[2] = {};

const PythonAllocator& Own(void* context) { return *static_cast<const PythonAllocator*>(context); }

void* CountedMalloc(void* context, size_t size) {
  const PythonAllocator& next = Own(context);
  return Allocate(size, 0, {MEMPROF_CALLER(), AllocatorKind::kPymallocMalloc},
                  [&] { return next.malloc(next.context, size); });
}

void* CountedCalloc(void* context, size_t count, size_t size) {
  const PythonAllocator& next = Own(context);
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) bytes = SIZE_MAX;  // the real function fails
  return Allocate(bytes, 0, {MEMPROF_CALLER(), AllocatorKind::kPymallocCalloc},
                  [&] { return next.calloc(next.context, count, size); });
}

void* CountedRealloc(void* context, void* address, size_t size) {
  const PythonAllocator& next = Own(context);
  // A size of 0 frees nothing.
  return ReallocateBlock(address, size, false, {MEMPROF_CALLER(), AllocatorKind::kPymallocRealloc},
                         [&] { return next.realloc(next.context, address, size); });
}

void CountedFree(void* context, void* address) {
  const PythonAllocator& next = Own(context);
  Release(address, [&] { next.free(next.context, address); });
}

template <typename Function>
Function* FindFunctionOf(const char* name) {
  void* const found = FindFirstDefinition(name);
  Function* function;
  memcpy(&function, &found, sizeof function);
  return function;
}

}  // namespace

void HookPythonAllocators(RegionHeader& region) {
  if (region.options.python_objects == 0 || !RealReady() ||
      region.python.load(std::memory_order_relaxed) !=
          static_cast<uint32_t>(PythonState::kFrames)) {
    return;
  }
  auto* const get = FindFunctionOf<AskAllocator>("PyMem_GetAllocator");
  auto* const set = FindFunctionOf<AskAllocator>("PyMem_SetAllocator");
  auto* const get_arenas = FindFunctionOf<AskArenas>("PyObject_GetArenaAllocator");
  if (get == nullptr || set == nullptr || get_arenas == nullptr) return;
  ArenaAllocator arenas = {};
  get_arenas(&arenas);
  ByteRange maps;
  if (FindFunction(reinterpret_cast<uintptr_t>(arenas.alloc), maps)) LeaveOutMappingsOf(maps);
  for (int i = 0; i < 2; ++i) {
    get(kDomains[i], &own[i]);
    PythonAllocator ours = {&own[i], CountedMalloc, CountedCalloc, CountedRealloc, CountedFree};
    set(kDomains[i], &ours);
  }
  region.python_objects.store(static_cast<uint32_t>(PythonObjects::kCounted),
                              std::memory_order_relaxed);
}

}  // namespace memprof
