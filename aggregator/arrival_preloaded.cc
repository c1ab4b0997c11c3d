// Preloaded: the loader bound the program to our hooks, and the real functions are the next ones.

#include "aggregator/arrival.h"
#include "aggregator/events/tables.h"
#include "aggregator/fork/forked_child.h"
#include "aggregator/hooks/inner_jemalloc.h"
#include "aggregator/libc_functions.h"
#include "aggregator/life.h"
#include "aggregator/loaded_symbols.h"
#include "aggregator/monotonic_clock.h"
#include "aggregator/system_call_filters.h"
#include "aggregator/tracker.h"
#include "aggregator/unsupervised/region_maker.h"
#include "core/protocol/handshake.h"

namespace memprof {
namespace {

// Behind all that runs at exit, destructors too.
void NoteStatus(int status, void*) {
  if (counting->load(std::memory_order_relaxed) == 0) return;
  CurrentRegion().origin.exit_status_plus_one.store(static_cast<uint32_t>(status & 0xff) + 1,
                                                    std::memory_order_relaxed);
}

// What never allocates is tracked too, or the supervisor would say that no tracker came.
void OnLoaded(int argc, char** argv, char**) {
  if (!Counting()) return;
  WatchForks();
  DescribeProgram(process_region, argc, argv);
  if (CurrentRegion().origin.unsupervised.load(std::memory_order_relaxed) != 0) {
    const auto on_exit_of_libc = TheLibc().on_exit;
    if (on_exit_of_libc != nullptr) on_exit_of_libc(NoteStatus, nullptr);
  }
  // The executable is relocated by now and none of its constructors has run.
  HookInnerJemalloc(CurrentRegion());
}

// What memprof run wrote: digits.
uint32_t NumberIn(const char* text) {
  uint32_t number = 0;
  for (; *text >= '0' && *text <= '9'; ++text) {
    number = number * 10 + static_cast<uint32_t>(*text - '0');
  }
  return number;
}

// Not the attribute: gcc joins such functions into one that has no arguments.
using Constructor = void (*)(int, char**, char**);
[[gnu::section(".init_array"), gnu::used]] constinit Constructor on_loaded = OnLoaded;

}  // namespace

void* FindReal(const char* name) { return FindBehindUs(name); }
void* FindGlobal(const char* name) { return AskLoader(RTLD_NEXT, name); }

// Where a supervisor is named, it alone decides.
MappedRegion GetRegion() {
  const char* socket_path = EnvironmentValue(kSocketVariable);
  const uint32_t filters = InheritedFilters();
  if (socket_path == nullptr) return MakeRegion();
  const char* trusted = EnvironmentValue(kFiltersVariable);
  if (filters > (trusted != nullptr ? NumberIn(trusted) : 0)) return {};
  return ReceiveRegion(socket_path);
}

void NoteExit() {
  RegionOrigin& origin = CurrentRegion().origin;
  if (origin.unsupervised.load(std::memory_order_relaxed) == 0) return;
  origin.ended_ns.store(MonotonicNs(), std::memory_order_relaxed);
}

bool BeforeCounting() { return true; }

void CountUnseenFree(const void*) {
  Count(process_region.header().unknown_frees);
  if (ForgotInherited()) Count(process_region.header().dropped_events);
}
// Only whether it is to be counted: its size isn't known.
uint64_t UnseenSize(const void*) { return ForgotInherited() ? 1 : 0; }
void CountUnseenRealloc(uint64_t size) {
  if (size != 0) Count(process_region.header().dropped_events);
}
void CountUnseenDelete(uint64_t) { CountUnseenFree(nullptr); }

}  // namespace memprof
