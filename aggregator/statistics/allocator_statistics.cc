#include "aggregator/statistics/allocator_statistics.h"

#include <cstring>

#include "aggregator/allocator/inner_mallctl.h"
#include "aggregator/allocator/next_function.h"
#include "aggregator/allocator/real_allocator.h"
#include "aggregator/basics/atomics.h"
#include "aggregator/basics/errno_guard.h"
#include "aggregator/basics/loaded_symbols.h"
#include "aggregator/basics/monotonic_clock.h"
#include "aggregator/basics/signals_blocked.h"
#include "aggregator/basics/system_call_filters.h"
#include "aggregator/state/thread_state.h"
#include "aggregator/tables/allocator_code.h"
#include "aggregator/tables/peak_tracker.h"
#include "aggregator/unwind/nested_stack.h"

namespace memprof {

constinit std::atomic<uint32_t> allocator_answered{0};

namespace {

// A thread left the allocator by a jump: it may have kept its locks.
constinit std::atomic<uint32_t> was_left{0};

struct Said {
  AllocatorProvider provider = AllocatorProvider::kNone;
  uint64_t allocated = kUnknownBytes, cached = kUnknownBytes, free = kUnknownBytes,
           metadata = kUnknownBytes;
};

// The address range of a file's code.
struct Mapped {
  uintptr_t start = 0, end = 0;

  bool Has(uintptr_t pc) const { return pc >= start && pc < end; }
};

Mapped MappedAt(const void* address) {
  Mapped mapped;
  if (!ModuleTable::FindRange(address, &mapped.start, &mapped.end)) return {};
  return mapped;
}

// The function of that name, if its object is the one that has malloc.
template <typename Function>
Function* OfAllocator(NextFunction which) {
  void* symbol = next_functions[static_cast<size_t>(which)].load(std::memory_order_relaxed);
  if (symbol == nullptr || !IsRealAllocators(reinterpret_cast<uintptr_t>(symbol))) {
    return nullptr;
  }
  Function* function;
  memcpy(&function, &symbol, sizeof symbol);
  return function;
}

uint64_t Above(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

uint64_t AskJemalloc(Mallctl* mallctl, const char* name) {
  size_t value = 0;
  size_t bytes = sizeof value;
  return mallctl(name, &value, &bytes, nullptr, 0) == 0 ? value : kUnknownBytes;
}

// jemalloc's "allocated" includes the threads' caches.
bool AskJemalloc(Mallctl* mallctl, Said& said) {
  if (mallctl == nullptr) return false;
  uint64_t epoch = 1;
  size_t bytes = sizeof epoch;
  if (mallctl("epoch", &epoch, &bytes, &epoch, sizeof epoch) != 0) return false;
  const uint64_t allocated = AskJemalloc(mallctl, "stats.allocated");
  const uint64_t resident = AskJemalloc(mallctl, "stats.resident");
  said.metadata = AskJemalloc(mallctl, "stats.metadata");
  said.cached = AskJemalloc(mallctl, "stats.arenas.4096.tcache_bytes");  // of all arenas
  if (allocated == kUnknownBytes) return false;                          // built without statistics
  said.provider = AllocatorProvider::kJemalloc;
  said.allocated = Above(allocated, said.cached == kUnknownBytes ? 0 : said.cached);
  if (resident != kUnknownBytes && said.metadata != kUnknownBytes) {
    said.free = Above(Above(resident, allocated), said.metadata);
  }
  return true;
}

using TcmallocProperty = int(const char* name, size_t* value);

TcmallocProperty* PropertyOfTcmalloc() {
  return OfAllocator<TcmallocProperty>(NextFunction::MallocExtension_GetNumericProperty);
}

bool AskTcmalloc(Said& said) {
  auto* property = PropertyOfTcmalloc();
  if (property == nullptr) return false;
  const auto ask = [&](const char* name) -> uint64_t {
    size_t value = 0;
    return property(name, &value) != 0 ? value : 0;
  };
  said.provider = AllocatorProvider::kTcmalloc;
  said.allocated = ask("generic.current_allocated_bytes");
  said.cached = ask("tcmalloc.current_total_thread_cache_bytes");
  said.free = ask("tcmalloc.central_cache_free_bytes") + ask("tcmalloc.transfer_cache_free_bytes") +
              ask("tcmalloc.pageheap_free_bytes");
  return true;
}

// Recognises the allocator by the functions that it has; none of them is called.
AllocatorProvider Present() {
  const auto has = [](NextFunction which) { return OfAllocator<void()>(which) != nullptr; };
  if (InnerMallctl() != nullptr || has(NextFunction::mallctl)) return AllocatorProvider::kJemalloc;
  if (PropertyOfTcmalloc() != nullptr) return AllocatorProvider::kTcmalloc;
  if (has(NextFunction::mi_process_info)) return AllocatorProvider::kMimalloc;
  if (has(NextFunction::gnu_get_libc_version)) return AllocatorProvider::kGlibc;
  return AllocatorProvider::kNone;
}

bool MayBeAsked(AllocatorProvider provider) {
  return provider == AllocatorProvider::kJemalloc || provider == AllocatorProvider::kTcmalloc;
}

// The second half of the invariant (see the header); the stack is the first.
bool NobodyElseWasThere() { return OneThread() && was_left.load(std::memory_order_relaxed) == 0; }

uint64_t Sum(uint64_t a, uint64_t b) {
  return a == kUnknownBytes ? b : b == kUnknownBytes ? a : a + b;
}

// A jemalloc inside the executable has its own heap beside that of the allocator behind our hooks.
// Their figures are summed, and the inner one is named. If the other one isn't asked, the sum isn't
// the whole.
bool Ask(Said& said) {
  const bool inner = AskJemalloc(InnerMallctl(), said);
  Said other;
  if (!AskJemalloc(OfAllocator<Mallctl>(NextFunction::mallctl), other) && !AskTcmalloc(other)) {
    said.allocated = kUnknownBytes;
    return inner;
  }
  if (!inner) said.provider = other.provider;
  said.allocated = Sum(said.allocated, other.allocated);
  said.cached = Sum(said.cached, other.cached);
  said.free = Sum(said.free, other.free);
  said.metadata = Sum(said.metadata, other.metadata);
  return true;
}

bool IsGlibcs() { return OfAllocator<void()>(NextFunction::gnu_get_libc_version) != nullptr; }

// False if some frame shows that the thread may hold a lock of the allocator, or a lock that the
// holder of such a lock may wait for. libc is at the root of every stack. The loader counts because
// it allocates for threads that an allocator starts under locks of its own. At the end of the
// process the loader is always on the stack, and holds none.
bool Allows(const StackMemory& stack, uint32_t depth, bool at_end) {
  const bool glibcs = IsGlibcs();  // whose functions are at the root of every stack
  const Mapped loader = at_end ? Mapped{} : MappedAt(reinterpret_cast<const void*>(LoaderBase()));
  // an inner jemalloc reports an event from within, without holding its locks
  uint32_t outer = depth;
  while (outer > 0 && allocator_code.Has(stack.frames[outer - 1].pc)) --outer;
  for (uint32_t i = 0; i < outer; ++i) {
    const uintptr_t pc = stack.frames[i].pc;
    if (allocator_code.Has(pc) || (!glibcs && IsRealAllocators(pc)) || loader.Has(pc)) return false;
  }
  return outer > 0;
}

bool StackAllows(const StartRegisters& caller, bool at_end) {
  // Not in the thread's own memory, where the results of the last capture have to stay.
  const NestedStack stack;
  if (stack.get() == nullptr) return false;
  const CaptureResult capture = CaptureStack(caller, *stack.get());
  return !capture.truncated && !capture.incomplete && Allows(*stack.get(), capture.depth, at_end);
}

constinit std::atomic<uint32_t> asking{0};

// The number of stacks that did not allow an answer to the reader's last question. After many
// refusals there is no answer; otherwise a program of unknown stacks would pay for each of its
// events.
constexpr uint32_t kMostRefusals = 256;
constinit std::atomic<uint32_t> refusals{0};

// Marks the reader's question as answered.
void Answered() {
  allocator_answered.store(process_region.header().allocator_wanted.load(std::memory_order_relaxed),
                           std::memory_order_relaxed);
  refusals.store(0, std::memory_order_relaxed);
}

// Pre for `asks`: the thread holds no lock of the allocator.
void Report(bool asks) {
  SystemCallsFilteredByNow();
  const ErrnoGuard keep;
  // a handler that leaves by siglongjmp would keep the allocator's locks
  const SignalsBlocked blocked;
  if (asking.exchange(1, std::memory_order_acquire) != 0) return;
  RegionHeader& header = process_region.header();
  Answered();
  Said said = {.provider = Present()};
  // Checked again: a handler that ran before signals were blocked may have made a thread.
  if (asks && NobodyElseWasThere() && real.malloc != nullptr) {
    const AllocatorScope scope(kInAllocator | kInFree);  // its allocations are not the program's
    if (!Ask(said)) said = {};
  }
  if (said.provider != AllocatorProvider::kNone) {
    const int64_t live_bytes = PeakTracker(PeakPlaceOf(process_region)).Current();
    AllocatorFigures& figures = header.allocator;
    const uint32_t sequence = figures.sequence.load(std::memory_order_relaxed);
    figures.sequence.store(sequence + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    const auto set = [](std::atomic<uint64_t>& word, uint64_t value) {
      word.store(value, std::memory_order_relaxed);
    };
    figures.provider.store(static_cast<uint32_t>(said.provider), std::memory_order_relaxed);
    set(figures.time_ns, MonotonicNs() - header.started_ns);
    set(figures.allocated_bytes, said.allocated);
    set(figures.cached_bytes, said.cached);
    set(figures.free_bytes, said.free);
    set(figures.metadata_bytes, said.metadata);
    set(figures.live_bytes, live_bytes > 0 ? static_cast<uint64_t>(live_bytes) : 0);
    figures.sequence.store(sequence + 2, std::memory_order_release);
  }
  asking.store(0, std::memory_order_release);
}

bool MayAskNow() { return MayBeAsked(Present()) && NobodyElseWasThere(); }

}  // namespace

void ReportAllocatorAtEnd(const StartRegisters& caller) {
  if (!MayAskNow()) {
    Report(false);
  } else if (!InAllocator() && StackAllows(caller, true)) {
    Report(true);
  }
}

[[gnu::noinline]] void TryToAnswerReader(const StartRegisters& caller) {
  if (!MayAskNow()) {
    Report(false);
  } else if (StackAllows(caller, false)) {
    Report(true);
  } else if (refusals.fetch_add(1, std::memory_order_relaxed) + 1 >= kMostRefusals) {
    Answered();
  }
}

void NoteAllocatorWasLeft() { was_left.store(1, std::memory_order_relaxed); }

}  // namespace memprof
