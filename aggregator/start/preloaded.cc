// Preloaded: the loader bound the program to our hooks, and the real functions are the next ones.

#include "aggregator/allocator/find_real.h"
#include "aggregator/allocator/real_allocator.h"
#include "aggregator/basics/environment.h"
#include "aggregator/basics/libc_functions.h"
#include "aggregator/basics/loaded_symbols.h"
#include "aggregator/basics/monotonic_clock.h"
#include "aggregator/basics/system_call_filters.h"
#include "aggregator/events/inherited_heap.h"
#include "aggregator/events/python_frames.h"
#include "aggregator/events/unseen_blocks.h"
#include "aggregator/fork/forked_child.h"
#include "aggregator/hooks/inner_jemalloc.h"
#include "aggregator/hooks/python_allocators.h"
#include "aggregator/start/handshake_client.h"
#include "aggregator/start/loading.h"
#include "aggregator/state/counting.h"
#include "aggregator/state/exit_look.h"
#include "aggregator/state/process_tables.h"
#include "aggregator/unsupervised/region_maker.h"
#include "core/protocol/handshake.h"

namespace memprof {
namespace {

// Runs after everything else at exit, destructors too.
void NoteStatus(int status, void*) {
  if (!CountsAnything()) return;
  CurrentRegion().origin.exit_status_plus_one.store(static_cast<uint32_t>(status & 0xff) + 1,
                                                    std::memory_order_relaxed);
}

// A program that never allocates is tracked too; otherwise the supervisor would report that no
// tracker came.
void OnLoaded(int argc, char** argv, char**) {
  realloc_is_foreign = IsDefinedBefore("realloc");
  if (!Counting()) return;
  WatchForks();
  DescribeProgram(process_region, argc, argv);
  if (CurrentRegion().origin.unsupervised.load(std::memory_order_relaxed) != 0) {
    const auto on_exit_of_libc = TheLibc().on_exit.Load();
    if (on_exit_of_libc != nullptr) on_exit_of_libc(NoteStatus, nullptr);
  }
  PrepareExitLook();
  StartPython();
  HookPythonAllocators(CurrentRegion());
  // The executable is relocated by now, and none of its constructors has run.
  HookInnerJemalloc(CurrentRegion());
}

// The text is what memprof run wrote: digits.
uint32_t NumberIn(const char* text) {
  uint32_t number = 0;
  for (; *text >= '0' && *text <= '9'; ++text) {
    number = number * 10 + static_cast<uint32_t>(*text - '0');
  }
  return number;
}

// Not by the attribute: gcc joins such functions into one that has no arguments.
using Constructor = void (*)(int, char**, char**);
[[gnu::section(".init_array"), gnu::used]] constinit Constructor on_loaded = OnLoaded;

}  // namespace

void* FindReal(const char* name) { return FindNextDefinition(name); }
void* FindGlobal(const char* name) { return AskLoader(RTLD_NEXT, name); }

// If a supervisor is named, only the supervisor decides.
MappedRegion GetRegion() {
  const char* socket_path = EnvironmentValue(kSocketVariable);
  const uint32_t filters = InheritedFilters();
  if (socket_path == nullptr) return MakeRegion();
  const char* of_supervisor = EnvironmentValue(kFiltersVariable);
  if (filters > (of_supervisor != nullptr ? NumberIn(of_supervisor) : 0)) return {};
  return ReceiveRegion(socket_path);
}

void NoteExit() {
  RegionOrigin& origin = CurrentRegion().origin;
  if (origin.unsupervised.load(std::memory_order_relaxed) == 0) return;
  origin.ended_ns.store(MonotonicNs(), std::memory_order_relaxed);
}

bool BeforeCounting() { return true; }

void CountUnseenFree(const void*) {
  if (IsExitLooksFree()) return;
  Count(process_region.header().unknown_frees);
  if (ForgotInherited()) Count(process_region.header().dropped_events);
}
// Only tells whether to count: the size isn't known.
uint64_t UnseenSize(const void*) { return ForgotInherited() ? 1 : 0; }
void CountUnseenRealloc(uint64_t size) {
  if (size != 0) Count(process_region.header().dropped_events);
}
void CountUnseenDelete(uint64_t) { CountUnseenFree(nullptr); }

}  // namespace memprof
