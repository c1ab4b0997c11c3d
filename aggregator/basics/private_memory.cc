#include "aggregator/basics/private_memory.h"

#include <link.h>

#include <algorithm>

#include "aggregator/basics/kernel_calls.h"
#include "aggregator/basics/own_header.h"
#include "aggregator/basics/system_calls.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22  // Linux 5.14
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // Linux 5.14
#endif

namespace memprof {
namespace {

constexpr uintptr_t kPage = 4096;

constinit std::atomic<uint64_t> private_bytes{0};
constinit std::atomic<std::atomic<uint64_t>*> published{nullptr};

// The next free address of the range; 0: there is no range, memory comes from anywhere.
constinit std::atomic<uintptr_t> range_next{0};
constinit uintptr_t range_end = 0;
constinit void* range_start = nullptr;

constinit std::atomic<bool> mappings_are_locked{false};
constexpr int kLockOnFault = 1;  // MLOCK_ONFAULT

// The next part of the range; nullptr: it is used up.
void* TakeOfRange(size_t bytes) {
  const size_t whole = (bytes + kPage - 1) / kPage * kPage;
  const uintptr_t at = range_next.fetch_add(whole, std::memory_order_relaxed);
  return at + whole <= range_end ? reinterpret_cast<void*>(at) : nullptr;
}

// Makes the pages resident without a system call, even if other threads write there meanwhile.
void Touch(void* start, size_t bytes) {
  for (size_t at = 0; at < bytes; at += kPage) {
    __atomic_fetch_or(static_cast<unsigned char*>(start) + at, 0, __ATOMIC_RELAXED);
  }
}

void* Map(size_t bytes, int protection) {
  if (!MayMapMemory()) return nullptr;
  const bool in_range = range_next.load(std::memory_order_relaxed) != 0;
  void* const wanted = in_range ? TakeOfRange(bytes) : nullptr;
  if (in_range && wanted == nullptr) return nullptr;
  void* start =
      MapUntouched(wanted, bytes, protection,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (in_range ? MAP_FIXED : 0));
  if (start == nullptr || SystemCallsFiltered()) return start;
  kernel::Advise(start, bytes, MADV_DONTDUMP);
  // Huge pages would make a table that is sparse on purpose resident.
  kernel::Advise(start, bytes, MADV_NOHUGEPAGE);
  return start;
}

// How much of a limit one table may take. `known` caches the limit, which isn't asked for behind a
// filter of system calls.
size_t ShareOf(int resource, std::atomic<rlim_t>& known, size_t wanted) {
  if (!SystemCallsFiltered()) known.store(kernel::Limit(resource), std::memory_order_relaxed);
  const rlim_t most = known.load(std::memory_order_relaxed);
  if (most == RLIM_INFINITY) return wanted;
  constexpr size_t kLeast = 1 << 20;
  const size_t share = most / 32 / 65536 * 65536;
  return std::min(std::max(share, kLeast), wanted);
}

}  // namespace

void* ReserveMemory(size_t bytes) {
  if (bytes < kHugePage) return Map(bytes, PROT_NONE);
  auto* start = static_cast<unsigned char*>(Map(bytes + kHugePage, PROT_NONE));
  if (start == nullptr) return nullptr;
  // The parts before and after the aligned one are given back.
  const size_t before = -reinterpret_cast<uintptr_t>(start) % kHugePage;
  if (before != 0) UnmapMemory(start, before);
  UnmapMemory(start + before + bytes, kHugePage - before);
  return start + before;
}

bool CommitMemory(void* start, size_t bytes) {
  if (!MayMapMemory() || !kernel::Protect(start, bytes, PROT_READ | PROT_WRITE)) return false;
  if (SystemCallsFiltered()) {
    Touch(start, bytes);
  } else {
    if (bytes == kHugePage && reinterpret_cast<uintptr_t>(start) % kHugePage == 0) {
      kernel::Advise(start, bytes, MADV_HUGEPAGE);
    }
    // On older kernels the pages come one by one as they are touched.
    kernel::Advise(start, bytes, MADV_POPULATE_WRITE);
  }
  CountPrivateBytes(static_cast<int64_t>(bytes));
  return true;
}

void* MapMemory(size_t bytes) { return Map(bytes, PROT_READ | PROT_WRITE); }

void UnmapMemory(void* start, size_t bytes) {
  if (!MayMapMemory()) return;
  if (range_next.load(std::memory_order_relaxed) == 0) {
    kernel::Unmap(start, bytes);
    return;
  }
  // The addresses stay reserved: nobody else may get a place in the range.
  kernel::Map(start, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED);
}

bool TakeMemoryOfOneRange(size_t bytes) {
  void* start = kernel::Map(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
  if (start == nullptr) return false;
  // Address space alone needn't count as locked memory.
  if (mappings_are_locked.load(std::memory_order_relaxed)) {
    kernel::Call(SYS_munlock, start, bytes);
  }
  kernel::Advise(start, bytes, MADV_DONTDUMP);
  range_start = start;
  range_end = reinterpret_cast<uintptr_t>(start) + bytes;
  range_next.store(reinterpret_cast<uintptr_t>(start), std::memory_order_relaxed);
  return true;
}

bool IsInRange(uintptr_t address) {
  const auto start = reinterpret_cast<uintptr_t>(range_start);
  return start != 0 && address >= start && address < range_end;
}

void GiveRangeBack() {
  if (range_start != nullptr) {
    kernel::Unmap(range_start, range_end - reinterpret_cast<uintptr_t>(range_start));
  }
  range_start = nullptr;
  range_next.store(0, std::memory_order_relaxed);
}

void NoteLockedMappings() { mappings_are_locked.store(true, std::memory_order_relaxed); }

bool MappingsAreLocked() {
  unsigned char resident = 0;
  void* const page =
      kernel::Map(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
  if (page == nullptr) return false;
  kernel::Call(SYS_mincore, page, kPage, &resident);
  kernel::Unmap(page, kPage);
  return (resident & 1) != 0;
}

void* MapUntouched(void* address, size_t bytes, int protection, int flags, int fd) {
  if (protection == PROT_NONE || !mappings_are_locked.load(std::memory_order_relaxed) ||
      SystemCallsFiltered()) {
    return kernel::Map(address, bytes, protection, flags, fd);
  }
  // The kernel skips pages that can't be accessed. They become accessible after they are no longer
  // to be locked in full.
  void* const start = kernel::Map(address, bytes, PROT_NONE, flags, fd);
  if (start == nullptr) return nullptr;
  if (kernel::Call(SYS_mlock2, start, bytes, kLockOnFault) != 0) {
    kernel::Call(SYS_munlock, start, bytes);
  }
  if (kernel::Protect(start, bytes, protection)) return start;
  if ((flags & MAP_FIXED) == 0) kernel::Unmap(start, bytes);
  return nullptr;
}

void PopulateOwnImage() {
  const auto image = reinterpret_cast<uintptr_t>(&__ehdr_start);
  const auto* headers = reinterpret_cast<const ElfW(Phdr)*>(image + __ehdr_start.e_phoff);
  for (unsigned i = 0; i < __ehdr_start.e_phnum; ++i) {
    const ElfW(Phdr)& segment = headers[i];
    if (segment.p_type != PT_LOAD) continue;
    const uintptr_t begin = (image + segment.p_vaddr) / kPage * kPage;
    const uintptr_t end = (image + segment.p_vaddr + segment.p_memsz + kPage - 1) / kPage * kPage;
    const bool writable = (segment.p_flags & PF_W) != 0;
    // The loader has made the beginning of a writable segment read-only by now, so PROT_WRITE fails
    // there. Its pages are resident since they were relocated.
    if (!kernel::Advise(reinterpret_cast<void*>(begin), end - begin,
                        writable ? MADV_POPULATE_WRITE : MADV_POPULATE_READ) &&
        writable) {
      for (uintptr_t page = begin; page < end; page += kPage) {
        kernel::Advise(reinterpret_cast<void*>(page), kPage, MADV_POPULATE_WRITE);
      }
    }
    CountPrivateBytes(static_cast<int64_t>(end - begin));
  }
}

void CountPrivateBytes(int64_t delta) {
  const auto amount = static_cast<uint64_t>(delta);  // wraps round if memory is given back
  private_bytes.fetch_add(amount, std::memory_order_relaxed);
  std::atomic<uint64_t>* target = published.load(std::memory_order_relaxed);
  if (target != nullptr) target->fetch_add(amount, std::memory_order_relaxed);
}

uint64_t PrivateBytes() { return private_bytes.load(std::memory_order_relaxed); }

void PublishPrivateBytes(std::atomic<uint64_t>* target) {
  target->store(PrivateBytes(), std::memory_order_relaxed);
  published.store(target, std::memory_order_relaxed);
}

size_t AddressSpaceShare(size_t wanted) {
  static constinit std::atomic<rlim_t> known{RLIM_INFINITY};
  return ShareOf(RLIMIT_AS, known, wanted);
}

size_t DataShare(size_t wanted) {
  static constinit std::atomic<rlim_t> known{RLIM_INFINITY};
  return AddressSpaceShare(ShareOf(RLIMIT_DATA, known, wanted));
}

uint64_t RegionShare(uint64_t wanted) {
  const auto within = [](uint64_t limit, uint64_t share, uint64_t most) {
    return limit != RLIM_INFINITY && limit / share < most ? limit / share : most;
  };
  // A region is shared memory, which isn't counted as data. A table of a sixteenth of its size is.
  return within(kernel::Limit(RLIMIT_AS), 16, within(kernel::Limit(RLIMIT_DATA), 2, wanted));
}

}  // namespace memprof
