#include "aggregator/allocator/next_function.h"

#include <cstring>

#include "aggregator/allocator/cxx_by_malloc.h"
#include "aggregator/allocator/find_real.h"
#include "aggregator/allocator/loaded_objects.h"
#include "aggregator/basics/libc_functions.h"
#include "aggregator/state/thread_state.h"

namespace memprof {

constinit std::atomic<void*> next_functions[kNextFunctions] = {};

namespace {

constexpr const char* kNames[kNextFunctions] = {
#define MEMPROF_NAME(name) #name,
    MEMPROF_NEXT_FUNCTIONS(MEMPROF_NAME)
#undef MEMPROF_NAME
};

constinit std::atomic<bool> resolved{false};

// Our own calls of the loader: their allocations and frees are not the program's.
constexpr uintptr_t kOurs = kInAllocator | kInFree;

// --- at start ------------------------------------------------------------------------------------

// Two threads that come here at once do the same.
void Resolve() {
  const AllocatorScope ours(kOurs);
  for (size_t i = 0; i < kNextFunctions; ++i) {
    next_functions[i].store(FindReal(kNames[i]), std::memory_order_relaxed);
  }
  PassByLibstdcxx(TheLibc().find_object);
  resolved.store(true, std::memory_order_release);
}

// A constructor that runs before this one may have called it already.
[[gnu::constructor]] void OnLoaded() { ResolveNextFunctions(); }

// --- what came later -----------------------------------------------------------------------------

// A calling module; all zero stands for code in no module.
struct Module {
  const link_map* map;
  const void* start;
  friend bool operator==(const Module&, const Module&) = default;
};

Module ModuleOf(const void* address) {
  const FindObject find = TheLibc().find_object;
  dl_find_object found;
  if (find == nullptr || find(const_cast<void*>(address), &found) != 0) return {};
  return {found.dlfo_link_map, found.dlfo_map_start};
}

enum class EntryState : uint32_t { kFree, kBeingFilled, kReady };

// An entry is written by the thread that took it while it was kFree. It is then constant until it
// is kFree again, which happens only after its module is gone. So a caller that finds its own
// module here never reads a stale entry. If a thread leaves by longjmp while it fills the entry,
// the entry stays unusable.
struct Entry {
  std::atomic<EntryState> state;  // kReady is released; readers acquire it before the rest
  Module module;
  void* functions[kNextFunctions];
};

constexpr size_t kEntries = 128;
constexpr size_t kProbes = 16;
constinit Entry entries[kEntries] = {};

Entry& EntryAt(const Module& module, size_t probe) {
  const uint64_t hash = reinterpret_cast<uint64_t>(module.map) * 0x9e3779b97f4a7c15ull;
  return entries[((hash >> 32) + probe) % kEntries];
}

const Entry* FindEntry(const Module& module) {
  for (size_t i = 0; i < kProbes; ++i) {
    const Entry& entry = EntryAt(module, i);
    if (entry.state.load(std::memory_order_acquire) == EntryState::kReady &&
        entry.module == module) {
      return &entry;
    }
  }
  return nullptr;
}

// Finds all functions at once, so that a block from one new goes to the matching delete, whatever
// is loaded between the two calls.
[[gnu::noinline]] void FindAll(const Module& module, void* (&functions)[kNextFunctions]) {
  const AllocatorScope ours(kOurs);
  const char* names[kNextFunctions];
  for (size_t i = 0; i < kNextFunctions; ++i) {
    const bool known = next_functions[i].load(std::memory_order_relaxed) != nullptr;
    names[i] = known ? nullptr : kNames[i];
  }
  Definitions definitions[kNextFunctions];
  FindDefinitions(module.map, names, kNextFunctions, definitions);
  for (size_t i = 0; i < kNextFunctions; ++i) {
    const Definitions& found = definitions[i];
    void* function = found.first;
    if (found.count > 1) {
      function = FindGlobal(kNames[i]);
      if (function == nullptr) function = found.in_scope != nullptr ? found.in_scope : found.first;
    }
    functions[i] = function;
  }
}

void Remember(const Module& module, void* const (&functions)[kNextFunctions]) {
  for (size_t i = 0; i < kProbes; ++i) {
    Entry& entry = EntryAt(module, i);
    EntryState state = EntryState::kFree;
    if (!entry.state.compare_exchange_strong(state, EntryState::kBeingFilled,
                                             std::memory_order_acquire)) {
      continue;
    }
    entry.module = module;
    memcpy(entry.functions, functions, sizeof functions);
    entry.state.store(EntryState::kReady, std::memory_order_release);
    return;
  }
}

// True if its module is gone, or that of a function: users of a global definition don't keep it
// loaded.
bool IsGone(const Entry& entry) {
  if (TheLibc().find_object == nullptr) return true;
  if (entry.module != Module{} && ModuleOf(entry.module.start) != entry.module) return true;
  for (const void* function : entry.functions) {
    if (function != nullptr && ModuleOf(function) == Module{}) return true;
  }
  return false;
}

}  // namespace

void ResolveNextFunctions() {
  if (!resolved.load(std::memory_order_acquire)) Resolve();
}

void* FindNextFor(NextFunction which, uintptr_t caller) {
  const auto index = static_cast<size_t>(which);
  ResolveNextFunctions();
  if (void* function = next_functions[index].load(std::memory_order_relaxed)) return function;
  // The call may be the last instruction of its module, so look at the byte before the return
  // address.
  const Module module = ModuleOf(reinterpret_cast<const void*>(caller - 1));
  if (const Entry* entry = FindEntry(module)) return entry->functions[index];
  void* functions[kNextFunctions];
  FindAll(module, functions);
  // Without it, the module of the next call would be taken for this one.
  if (TheLibc().find_object != nullptr) Remember(module, functions);
  return functions[index];
}

void ForgetClosedCallers() {
  for (Entry& entry : entries) {
    if (entry.state.load(std::memory_order_acquire) != EntryState::kReady || !IsGone(entry)) {
      continue;
    }
    entry.state.store(EntryState::kFree, std::memory_order_release);
  }
}

}  // namespace memprof
