#include "aggregator/hooks/inner_jemalloc.h"

#include <link.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "aggregator/allocator/inner_mallctl.h"
#include "aggregator/basics/errno_guard.h"
#include "aggregator/basics/libc_functions.h"
#include "aggregator/hooks/hook.h"
#include "aggregator/tables/allocator_code.h"

namespace memprof {
namespace {

using Mallocx = void*(size_t size, int flags);
using Dallocx = void(void* address, int flags);

// The function of an event. The codes before the last one are the same in all versions. 5.3.1 put
// pvalloc before the others (mallocx, realloc, rallocx), so these are recognised by the code that a
// call of mallocx gives.
enum Allocation : uint32_t {
  kMalloc,
  kPosixMemalign,
  kAlignedAlloc,
  kCalloc,
  kMemalign,
  kValloc,
  kPvallocOrMallocx,
};
enum Deallocation : uint32_t { kFree, kDallocx, kSdallocx, kReallocsOld, kRallocxsOld };
enum Expansion : uint32_t { kReallocInPlace, kRallocxInPlace, kXallocx };

constexpr uint32_t kNotKnown = ~0u;
constinit std::atomic<uint32_t> mallocx_code{kNotKnown};
constinit std::atomic<ThreadState*> calibrates{nullptr};  // the thread that is calling mallocx now

// The three kinds in jemalloc's hooks_t.
using AllocHook = void(void* extra, uint32_t type, void* result, uintptr_t raw, uintptr_t args[3]);
using DallocHook = void(void* extra, uint32_t type, void* address, uintptr_t args[3]);
using ExpandHook = void(void* extra, uint32_t type, void* address, size_t old_usable, size_t usable,
                        uintptr_t raw, uintptr_t args[4]);
struct Hooks {
  AllocHook* alloc;
  DallocHook* dalloc;
  ExpandHook* expand;
  void* extra;
};

void* AddressOf(uintptr_t word) { return reinterpret_cast<void*>(word); }

void CountResized(void* old_address, void* address, size_t size, const Caller& caller) {
  if (CalledWithin(kInAllocator, caller.registers.sp)) return;
  if (!CountsAll()) {
    ReallocateSampled(old_address, size, false, caller, [=] { return address; });
    return;
  }
  const ClaimedBlock old = old_address != nullptr ? ClaimForRealloc(old_address) : ClaimedBlock{};
  OnReallocated(old, address, size, caller);
}

// Events whose codes differ between versions.
[[gnu::noinline]] void CountLaterCode(uint32_t type, void* address, const uintptr_t* args,
                                      const StartRegisters& start) {
  const uint32_t mallocx = mallocx_code.load(std::memory_order_relaxed);
  if (mallocx == kNotKnown) {
    if (calibrates.load(std::memory_order_relaxed) == &thread_state) {
      mallocx_code.store(type, std::memory_order_relaxed);
    }
    return;
  }
  const auto count = [&](AllocatorKind kind) {
    Allocate(args[0], 0, {start, kind}, [=] { return address; });
  };
  if (type == mallocx) {
    count(AllocatorKind::kMallocx);
  } else if (type < mallocx) {
    count(AllocatorKind::kAligned);  // pvalloc
  } else if (type == mallocx + 1) {
    CountResized(AddressOf(args[0]), address, args[1], {start, AllocatorKind::kRealloc});
  } else if (type == mallocx + 2) {
    CountResized(AddressOf(args[0]), address, args[1], {start, AllocatorKind::kRallocx});
  }
}

[[gnu::noinline]] void OnAllocation(void*, uint32_t type, void* address, uintptr_t raw,
                                    uintptr_t args[3]) {
  const StartRegisters start = MEMPROF_CALLER();
  if (address == nullptr) return;
  size_t size = args[0];
  AllocatorKind kind = AllocatorKind::kAligned;
  switch (type) {
    case kMalloc:
      kind = AllocatorKind::kMalloc;
      break;
    case kPosixMemalign:
      if (raw != 0) return;  // it failed: the address is the one that the program had there
      size = args[2];
      break;
    case kAlignedAlloc:
    case kMemalign:
      size = args[1];
      break;
    case kCalloc:
      size *= args[1];  // no overflow, because it succeeded
      kind = AllocatorKind::kCalloc;
      break;
    case kValloc:
      break;
    default:
      CountLaterCode(type, address, args, start);
      return;
  }
  Allocate(size, 0, {start, kind}, [=] { return address; });
}

// The old block of a realloc: counted together with the new one, unless realloc(p, 0) frees.
[[gnu::noinline]] void CountReallocsOld(void* address, uintptr_t sp) {
  if (CalledWithin(kInFree, sp)) return;
  if (CountsAll() || (CountsAnything() && !Sampling())) {
    OnReallocFreed(ClaimForRealloc(address), address);
  } else if (CountsAnything() && MaybeSample(address)) {
    OnSampleReallocFreed(ClaimSample(address));
  }
}

[[gnu::noinline]] void OnDeallocation(void*, uint32_t type, void* address, uintptr_t*) {
  if (type >= kReallocsOld) {
    CountReallocsOld(address, reinterpret_cast<uintptr_t>(__builtin_frame_address(0)));
    return;
  }
  Release(address, [] {});
}

[[gnu::noinline]] void OnExpansion(void*, uint32_t type, void* address, size_t, size_t usable,
                                   uintptr_t, uintptr_t args[4]) {
  const StartRegisters start = MEMPROF_CALLER();
  const size_t size = args[1];
  if (type == kXallocx && usable < size) return;  // it failed, and the block is unchanged
  const auto kind = type == kReallocInPlace ? AllocatorKind::kRealloc : AllocatorKind::kRallocx;
  CountResized(address, address, size, {start, kind});
}

template <typename Function>
Function* FunctionAt(uintptr_t address) {
  Function* function;
  memcpy(&function, &address, sizeof function);
  return function;
}

// The executable is the first in the loader's list.
int TakeFirst(dl_phdr_info* info, size_t, void* bias) {
  *static_cast<uintptr_t*>(bias) = info->dlpi_addr;
  return 1;
}

bool Install(const InnerJemalloc& found, uintptr_t bias) {
  Hooks hooks = {OnAllocation, OnDeallocation, OnExpansion, nullptr};
  void* handle = nullptr;
  size_t bytes = sizeof handle;
  auto* mallctl = FunctionAt<Mallctl>(bias + found.mallctl);
  if (mallctl("experimental.hooks.install", &handle, &bytes, &hooks, sizeof hooks) != 0) {
    return false;
  }
  calibrates.store(&thread_state, std::memory_order_relaxed);
  void* block = FunctionAt<Mallocx>(bias + found.mallocx)(1, 0);
  calibrates.store(nullptr, std::memory_order_relaxed);
  if (block != nullptr) FunctionAt<Dallocx>(bias + found.dallocx)(block, 0);
  if (mallocx_code.load(std::memory_order_relaxed) != kNotKnown) {
    inner_mallctl.store(mallctl, std::memory_order_relaxed);
    return true;
  }
  mallctl("experimental.hooks.remove", nullptr, nullptr, &handle, sizeof handle);
  return false;
}

}  // namespace

void HookInnerJemalloc(RegionHeader& region) {
  const InnerJemalloc& found = region.options.jemalloc;
  if (found.mallctl == 0 || !RealReady()) return;
  const ErrnoGuard keep;
  const AllocatorScope ours(kInAllocator | kInFree);
  uintptr_t bias = 0;
  IterateObjects(TakeFirst, &bias);
  for (const CodeRange& range : found.code)
    allocator_code.Add(bias + range.start, bias + range.end);
  const auto hooks = Install(found, bias) ? JemallocHooks::kInstalled : JemallocHooks::kRefused;
  region.jemalloc_hooks.store(static_cast<uint32_t>(hooks), std::memory_order_relaxed);
}

}  // namespace memprof
