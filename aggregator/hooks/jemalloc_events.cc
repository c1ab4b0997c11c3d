#include "aggregator/hooks/jemalloc_events.h"

#include "aggregator/hooks/hook.h"

namespace memprof {
namespace {

void* OnMallocx(Mallocx* next, size_t size, int flags, const StartRegisters& start) {
  return Allocate(size, 0, {start, AllocatorKind::kMallocx}, [=] { return next(size, flags); });
}

// Unlike realloc it never frees: NULL is a failure for any size.
void* OnRallocx(Rallocx* next, void* address, size_t size, int flags, const StartRegisters& start) {
  if (CalledWithin(kInAllocator, start.sp)) return next(address, size, flags);
  if (!CountsAll()) {
    return ReallocateSampled(address, size, false, {start, AllocatorKind::kRallocx},
                             [=] { return next(address, size, flags); });
  }
  const ClaimedBlock old = ClaimForRealloc(address);
  void* result;
  {
    const AllocatorScope scope;
    result = next(address, size, flags);
  }
  if (result != nullptr) {
    OnReallocated(old, result, size, {start, AllocatorKind::kRallocx});
  } else {
    OnReallocFailed(old, address);
  }
  return result;
}

size_t OnXallocx(Xallocx* next, void* address, size_t size, size_t extra, int flags,
                 const StartRegisters& start) {
  if (CalledWithin(kInAllocator, start.sp)) return next(address, size, extra, flags);
  size_t usable;
  if (!CountsAll()) {
    ReallocateSampled(address, size, false, {start, AllocatorKind::kRallocx}, [&] {
      usable = next(address, size, extra, flags);
      return usable >= size ? address : nullptr;
    });
    return usable;
  }
  const ClaimedBlock old = ClaimForRealloc(address);
  {
    const AllocatorScope scope;
    usable = next(address, size, extra, flags);
  }
  if (usable >= size) {
    OnReallocated(old, address, size, {start, AllocatorKind::kRallocx});
  } else {
    OnReallocFailed(old, address);
  }
  return usable;
}

void OnDallocx(Dallocx* next, void* address, int flags) {
  Release(address, [=] { next(address, flags); });
}

void OnSdallocx(Sdallocx* next, void* address, size_t size, int flags) {
  Release(address, [=] { next(address, size, flags); });
}

}  // namespace
}  // namespace memprof

constinit const memprof::JemallocEvents memprof_jemalloc_events_v2 = {
    memprof::OnMallocx, memprof::OnRallocx, memprof::OnXallocx, memprof::OnDallocx,
    memprof::OnSdallocx};
