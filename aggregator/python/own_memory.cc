#include "aggregator/python/own_memory.h"

#include <atomic>
#include <cstring>

#include "aggregator/unwind/readable_stack.h"

namespace memprof {
namespace {

constexpr uintptr_t kPage = 4096;
constexpr uintptr_t kLimit = uintptr_t{1} << 47;
constexpr size_t kPlaces = 2048;

// A page's address | the low bits of the epoch in which it was probed.
constinit std::atomic<uintptr_t> probed[kPlaces] = {};
// Begins at 1: an entry of zeros is none.
constinit std::atomic<uintptr_t> epoch{1};

bool IsReadable(uintptr_t page) {
  const uintptr_t entry = page | epoch.load(std::memory_order_relaxed) % kPage;
  std::atomic<uintptr_t>& place = probed[page / kPage % kPlaces];
  if (place.load(std::memory_order_relaxed) == entry) return true;
  if (!IsPageReadable(page)) return false;
  place.store(entry, std::memory_order_relaxed);
  return true;
}

bool CopyOwn(const void*, uintptr_t address, void* to, size_t bytes) {
  if (address < kPage || address >= kLimit || bytes > kLimit - address) return false;
  for (uintptr_t page = address & ~(kPage - 1); page < address + bytes; page += kPage) {
    if (!IsReadable(page)) return false;
  }
  memcpy(to, reinterpret_cast<const void*>(address), bytes);
  return true;
}

}  // namespace

InterpreterMemory OwnMemory() { return {CopyOwn}; }

void ForgetReadablePages() {
  const uintptr_t next = epoch.fetch_add(1, std::memory_order_relaxed) + 1;
  // An entry of 4096 epochs ago would look new.
  if (next % kPage != 0) return;
  for (auto& place : probed) place.store(0, std::memory_order_relaxed);
  epoch.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace memprof
