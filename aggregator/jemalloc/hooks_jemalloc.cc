// jemalloc's extended interface. Each hook finds the real function behind us and passes both to the
// tracker.

#include <atomic>
#include <cstring>

#include "aggregator/basics/loaded_symbols.h"
#include "aggregator/hooks/hook.h"
#include "aggregator/hooks/jemalloc_events.h"
#include "aggregator/jemalloc/without_jemalloc.h"

// Weak: null in a child that runs with this library and without the tracker.
extern "C" {
[[gnu::weak]] extern const memprof::JemallocEvents memprof_jemalloc_events_v2;
}

using namespace memprof;

namespace {

constinit std::atomic<Mallocx*> next_mallocx{nullptr};
constinit std::atomic<Rallocx*> next_rallocx{nullptr};
constinit std::atomic<Xallocx*> next_xallocx{nullptr};
constinit std::atomic<Dallocx*> next_dallocx{nullptr};
constinit std::atomic<Sdallocx*> next_sdallocx{nullptr};

template <typename Function>
void Find(std::atomic<Function*>& next, const char* name, Function* otherwise) {
  Function* function = otherwise;
  if (void* symbol = FindNextDefinition(name)) memcpy(&function, &symbol, sizeof symbol);
  next.store(function, std::memory_order_relaxed);
}

// Two threads that come here at once store the same. A constructor that runs before this one may
// have called it already.
[[gnu::constructor]] void FindAll() {
  Find(next_mallocx, "mallocx", MallocxOnMalloc);
  Find(next_rallocx, "rallocx", RallocxOnMalloc);
  Find(next_xallocx, "xallocx", XallocxOnMalloc);
  Find(next_dallocx, "dallocx", DallocxOnMalloc);
  Find(next_sdallocx, "sdallocx", SdallocxOnMalloc);
}

const JemallocEvents* Events() { return &memprof_jemalloc_events_v2; }

template <typename Function>
Function* Resolved(std::atomic<Function*>& next) {
  if (__builtin_expect(next.load(std::memory_order_relaxed) == nullptr, 0)) FindAll();
  return next.load(std::memory_order_relaxed);
}

}  // namespace

extern "C" {

MEMPROF_HOOK void* mallocx(size_t size, int flags) {
  auto* next = Resolved(next_mallocx);
  if (Events() == nullptr) return next(size, flags);
  return Events()->mallocx(next, size, flags, MEMPROF_CALLER());
}

MEMPROF_HOOK void* rallocx(void* address, size_t size, int flags) {
  auto* next = Resolved(next_rallocx);
  if (Events() == nullptr) return next(address, size, flags);
  return Events()->rallocx(next, address, size, flags, MEMPROF_CALLER());
}

MEMPROF_HOOK size_t xallocx(void* address, size_t size, size_t extra, int flags) {
  auto* next = Resolved(next_xallocx);
  if (Events() == nullptr) return next(address, size, extra, flags);
  return Events()->xallocx(next, address, size, extra, flags, MEMPROF_CALLER());
}

MEMPROF_HOOK void dallocx(void* address, int flags) {
  auto* next = Resolved(next_dallocx);
  if (Events() == nullptr) return next(address, flags);
  Events()->dallocx(next, address, flags);
}

MEMPROF_HOOK void sdallocx(void* address, size_t size, int flags) {
  auto* next = Resolved(next_sdallocx);
  if (Events() == nullptr) return next(address, size, flags);
  Events()->sdallocx(next, address, size, flags);
}

}  // extern "C"
