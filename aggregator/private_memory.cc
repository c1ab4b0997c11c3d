#include "aggregator/private_memory.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include "aggregator/errno_guard.h"
#include "aggregator/system_calls.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // Linux 5.14
#endif

namespace memprof {
namespace {

constinit std::atomic<uint64_t> private_bytes{0};
constinit std::atomic<std::atomic<uint64_t>*> published{nullptr};

// Makes the pages resident without a system call, whatever other threads write there meanwhile.
void Touch(void* start, size_t bytes) {
  constexpr size_t kPage = 4096;
  for (size_t at = 0; at < bytes; at += kPage) {
    __atomic_fetch_or(static_cast<unsigned char*>(start) + at, 0, __ATOMIC_RELAXED);
  }
}

void* Map(size_t bytes, int protection) {
  const ErrnoGuard keep;
  if (!MayMapMemory()) return nullptr;
  void* start =
      mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) return nullptr;
  if (SystemCallsFiltered()) return start;
  madvise(start, bytes, MADV_DONTDUMP);
  // A huge page would make a table that is sparse on purpose resident.
  madvise(start, bytes, MADV_NOHUGEPAGE);
  return start;
}

}  // namespace

void* ReserveMemory(size_t bytes) { return Map(bytes, PROT_NONE); }

bool CommitMemory(void* start, size_t bytes) {
  const ErrnoGuard keep;
  if (!MayMapMemory() || mprotect(start, bytes, PROT_READ | PROT_WRITE) != 0) return false;
  if (SystemCallsFiltered()) {
    Touch(start, bytes);
  } else {
    // Where the kernel is older the pages come one by one as they are touched.
    madvise(start, bytes, MADV_POPULATE_WRITE);
  }
  CountPrivateBytes(static_cast<int64_t>(bytes));
  return true;
}

void* MapMemory(size_t bytes) { return Map(bytes, PROT_READ | PROT_WRITE); }

void UnmapMemory(void* start, size_t bytes) {
  const ErrnoGuard keep;
  if (MayMapMemory()) munmap(start, bytes);
}

void CountPrivateBytes(int64_t delta) {
  const auto amount = static_cast<uint64_t>(delta);  // wraps round for what is given back
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
  const ErrnoGuard keep;
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return wanted;
  const size_t share = limit.rlim_cur / 32 / 65536 * 65536;
  const size_t least = 1 << 20;
  return share < least ? least : (share < wanted ? share : wanted);
}

}  // namespace memprof
