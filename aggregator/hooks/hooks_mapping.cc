// The functions that map memory. Each calls the real one and returns its result.
//
// Arguments are rounded as the kernel does it: to whole pages, except for brk.

#include <sys/mman.h>

#include <cstdarg>

#include "aggregator/basics/kernel_calls.h"
#include "aggregator/hooks/hook.h"
#include "aggregator/mappings/mappings.h"
#include "aggregator/python/own_memory.h"

using namespace memprof;

extern "C" __attribute__((weak)) void* __sbrk(intptr_t change);

namespace {

constexpr uint64_t kPage = 4096;

uint64_t Address(const void* address) { return reinterpret_cast<uint64_t>(address); }
uint64_t RoundedUp(uint64_t bytes, uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

// If the real function isn't known yet, the system call itself does the same.
void* RealMmap(void* address, size_t bytes, int protection, int flags, int fd, off_t offset) {
  auto* next = Known<void*(void*, size_t, int, int, int, off_t)>(NextFunction::mmap);
  if (next != nullptr) return next(address, bytes, protection, flags, fd, offset);
  return reinterpret_cast<void*>(
      ResultAndErrno(kernel::Call(SYS_mmap, address, bytes, protection, flags, fd, offset)));
}

// libc's sbrk by its other name, so that the loader is never asked: jemalloc calls it while it
// starts.
void* const kNoBreak = reinterpret_cast<void*>(-1);
// musl has no such name, and its sbrk() only returns the current break.
void* RealSbrk(intptr_t change) {
  if (__sbrk != nullptr) return __sbrk(change);
  if (change == 0) return reinterpret_cast<void*>(kernel::Call(SYS_brk, 0));
  errno = ENOMEM;
  return kNoBreak;
}

// Pages of 2 MiB, unless the flags name another power of two.
uint64_t PageOf(int flags) {
  if ((flags & MAP_HUGETLB) == 0) return kPage;
  const unsigned shift = static_cast<unsigned>(flags) >> MAP_HUGE_SHIFT & MAP_HUGE_MASK;
  return uint64_t{1} << (shift != 0 ? shift : 21);
}

MappingWhat WhatOf(int protection, int flags) {
  const bool anonymous = (flags & MAP_ANONYMOUS) != 0;
  const bool shared = (flags & MAP_TYPE) != MAP_PRIVATE;
  const bool unreserved = anonymous && !shared && (flags & MAP_NORESERVE) != 0;
  return {.kind = !anonymous ? MappingKind::kFile
                  : shared   ? MappingKind::kShared
                             : MappingKind::kAnonymous,
          .reserved = protection == PROT_NONE || unreserved};
}

[[gnu::always_inline]] inline void* Map(const Caller& caller, void* address, size_t bytes,
                                        int protection, int flags, int fd, off_t offset) {
  void* mapped = RealMmap(address, bytes, protection, flags, fd, offset);
  if (mapped == MAP_FAILED || !FollowsMapping(caller)) return mapped;
  MappingEvent event;
  event.what = WhatOf(protection, flags);
  event.start = Address(mapped);
  event.end = event.start + RoundedUp(bytes, PageOf(flags));
  event.stamp = MappingStamp();
  EnterMapping(event, caller, fd);
  return mapped;
}

// The break moved.
[[gnu::always_inline]] inline void MoveBreak(const Caller& caller, uint64_t stamp, uint64_t before,
                                             uint64_t now) {
  MappingEvent event;
  if (now > before) {
    event.what = {.kind = MappingKind::kBreak};
    event.start = before;
    event.end = now;
    event.stamp = MappingStamp();
    EnterMapping(event, caller);
  } else if (now < before) {
    event.kind = MappingEvent::Kind::kUnmap;
    event.from = now;
    event.from_end = before;
    event.from_stamp = stamp;
    EnterUnmapping(event);
  }
}

}  // namespace

extern "C" {

MEMPROF_HOOK void* mmap(void* address, size_t bytes, int protection, int flags, int fd,
                        off_t offset) {
  return Map({MEMPROF_CALLER(), AllocatorKind::kUnknown}, address, bytes, protection, flags, fd,
             offset);
}

MEMPROF_HOOK void* mmap64(void* address, size_t bytes, int protection, int flags, int fd,
                          off64_t offset) {
  return Map({MEMPROF_CALLER(), AllocatorKind::kUnknown}, address, bytes, protection, flags, fd,
             offset);
}

MEMPROF_HOOK int munmap(void* address, size_t bytes) {
  auto* next = Known<int(void*, size_t)>(NextFunction::munmap);
  const auto real_munmap = [=] {
    const int status =
        next != nullptr
            ? next(address, bytes)
            : static_cast<int>(ResultAndErrno(kernel::Call(SYS_munmap, address, bytes)));
    ForgetReadablePages();
    return status;
  };
  const Caller caller = {MEMPROF_CALLER(), AllocatorKind::kUnknown};
  if (!FollowsMapping(caller)) return real_munmap();
  MappingEvent event;
  event.kind = MappingEvent::Kind::kUnmap;
  event.from_stamp = MappingStamp();
  const int status = real_munmap();
  if (status != 0) return status;
  event.from = Address(address);
  event.from_end = event.from + RoundedUp(bytes, kPage);
  EnterUnmapping(event);
  return status;
}

MEMPROF_HOOK void* mremap(void* address, size_t old_bytes, size_t bytes, int flags, ...) {
  va_list list;
  va_start(list, flags);
  void* wanted = va_arg(list, void*);
  va_end(list);
  auto* next = Known<void*(void*, size_t, size_t, int, ...)>(NextFunction::mremap);
  const auto real_mremap = [=] {
    return next != nullptr ? next(address, old_bytes, bytes, flags, wanted)
                           : reinterpret_cast<void*>(ResultAndErrno(kernel::Call(
                                 SYS_mremap, address, old_bytes, bytes, flags, wanted)));
  };
  const Caller caller = {MEMPROF_CALLER(), AllocatorKind::kUnknown};
  if (!FollowsMapping(caller)) return real_mremap();
  MappingEvent event;
  event.kind = MappingEvent::Kind::kMove;
  event.from_stamp = MappingStamp();
  void* mapped = real_mremap();
  if (mapped == MAP_FAILED) return mapped;
  event.from = Address(address);
  const bool stays = (flags & MREMAP_DONTUNMAP) != 0;
  event.from_end = event.from + (stays ? 0 : RoundedUp(old_bytes, kPage));
  event.start = Address(mapped);
  event.end = event.start + RoundedUp(bytes, kPage);
  event.stamp = MappingStamp();
  EnterMapping(event, caller);
  return mapped;
}

MEMPROF_HOOK int mprotect(void* address, size_t bytes, int protection) {
  auto* next = Known<int(void*, size_t, int)>(NextFunction::mprotect);
  const auto real_mprotect = [=] {
    return next != nullptr ? next(address, bytes, protection)
                           : static_cast<int>(ResultAndErrno(
                                 kernel::Call(SYS_mprotect, address, bytes, protection)));
  };
  const Caller caller = {MEMPROF_CALLER(), AllocatorKind::kUnknown};
  if (!FollowsMapping(caller)) return real_mprotect();
  MappingEvent event;
  event.kind = MappingEvent::Kind::kProtect;
  event.what.reserved = protection == PROT_NONE;
  event.from_stamp = MappingStamp();
  const int status = real_mprotect();
  if (status != 0) {
    // The kernel may have changed some of the pages before it failed.
    if (errno == ENOMEM && bytes > kPage) NoteUnknownMapping();
    return status;
  }
  event.from = Address(address);
  event.from_end = event.from + RoundedUp(bytes, kPage);
  EnterUnmapping(event);
  return status;
}

MEMPROF_HOOK void* sbrk(intptr_t change) {
  const Caller caller = {MEMPROF_CALLER(), AllocatorKind::kUnknown};
  if (change == 0 || !FollowsMapping(caller)) return RealSbrk(change);
  const uint64_t stamp = MappingStamp();
  void* before = RealSbrk(change);
  if (before == kNoBreak) return before;
  MoveBreak(caller, stamp, Address(before), Address(before) + static_cast<uint64_t>(change));
  return before;
}

MEMPROF_HOOK int brk(void* address) {
  const Caller caller = {MEMPROF_CALLER(), AllocatorKind::kUnknown};
  const bool follows = FollowsMapping(caller);
  const uint64_t stamp = follows ? MappingStamp() : 0;
  const uint64_t before = Address(RealSbrk(0));
  if (RealSbrk(static_cast<intptr_t>(Address(address) - before)) == kNoBreak) return -1;
  // On failure the break doesn't move.
  if (follows) MoveBreak(caller, stamp, before, Address(RealSbrk(0)));
  return 0;
}

}  // extern "C"
