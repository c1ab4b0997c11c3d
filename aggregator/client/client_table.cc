// The table that memprof/memprof.h finds: the program's questions to the tracker, and its reports.

#include <cstring>

#include "aggregator/allocator/real_allocator.h"
#include "aggregator/basics/errno_guard.h"
#include "aggregator/basics/monotonic_clock.h"
#include "aggregator/basics/region.h"
#include "aggregator/client/heaviest_stacks.h"
#include "aggregator/client/memprof/memprof.h"
#include "aggregator/client/tracker_access.h"
#include "aggregator/events/caller.h"
#include "aggregator/events/pool_events.h"
#include "aggregator/events/sampler.h"
#include "aggregator/state/counting.h"
#include "aggregator/tables/peak_tracker.h"

using namespace memprof;

namespace {

bool Counted() { return CountsAnything(); }

ScopeCaller CallerOf(const TrackerAccess& access) {
  const SlotCells::Sums sums = access.sums();
  return {access.slot(),
          {static_cast<int64_t>(sums.allocated_bytes), static_cast<int64_t>(sums.allocated_count)},
          CountingStopped()};
}

bool IsSampled(const Region& region) { return region.header().options.sample_bytes != 0; }

// As much of ours as the caller knows of; `size` stays its own.
template <typename Struct>
void Give(Struct ours, Struct* to) {
  const uint32_t size = to->size;
  memcpy(to, &ours, size < sizeof ours ? size : sizeof ours);
  to->size = size;
}

uint32_t FlagIf(bool is, uint32_t flag) { return is ? flag : 0; }

memprof_figures ToClient(const ScopeFigures& figures, bool sampled) {
  memprof_figures out = {};
  out.flags = FlagIf(sampled, MEMPROF_SAMPLED) | FlagIf(figures.inexact, MEMPROF_INEXACT) |
              FlagIf(figures.thread_watched, MEMPROF_THREAD_KNOWN) |
              FlagIf(!figures.has_rows, MEMPROF_NO_STACKS) | FlagIf(figures.ended, MEMPROF_ENDED) |
              FlagIf(figures.thread_known, MEMPROF_THREAD_ALLOCATIONS_KNOWN) |
              FlagIf(figures.was_stopped, MEMPROF_WAS_STOPPED);
  out.start_bytes = figures.start_bytes;
  out.now_bytes = figures.now_bytes;
  out.peak_bytes = figures.peak_bytes;
  out.peak_growth_bytes = figures.peak_bytes - figures.start_bytes;
  out.growth_bytes = figures.growth.bytes;
  out.growth_blocks = figures.growth.count;
  out.leaked_bytes = figures.leaked.bytes;
  out.leaked_blocks = figures.leaked.count;
  out.allocations = static_cast<uint64_t>(figures.allocated.count);
  out.allocated_bytes = static_cast<uint64_t>(figures.allocated.bytes);
  out.thread_allocations = static_cast<uint64_t>(figures.thread_allocated.count);
  out.thread_allocated_bytes = static_cast<uint64_t>(figures.thread_allocated.bytes);
  out.thread_peak_growth_bytes = figures.thread_peak_growth;
  out.thread_growth_bytes = figures.thread_growth;
  out.bound_bytes = figures.bound_bytes;
  return out;
}

// The calling thread's turn to make marks. Before its own ones: what others could not release.
class MarkTurn {
 public:
  explicit MarkTurn(const TrackerAccess& access)
      : turn_(access.segments(), TrackerAccess::this_thread()) {
    if (!turn_.mine()) return;
    for (uint32_t left = access.segments().ReleaseLeft(); left != 0; --left) ChangeWatching(-1);
  }
  bool mine() const { return turn_.mine(); }

 private:
  const Segments::Turn turn_;
};

// Calls `what(access)` in the calling thread's turn. False: it was not called, because nothing is
// counted or the turn was not available.
template <typename What>
bool InTurn(What what) {
  if (!Counted()) return false;
  const ErrnoGuard keep;
  const TrackerAccess access;
  if (!access.usable()) return false;
  const MarkTurn turn(access);
  if (!turn.mine()) return false;
  what(access);
  return true;
}

int ClientCounted() { return Counted() ? 1 : 0; }

int ChangeStopped(int32_t by) {
  if (!Counted()) return 0;
  const ErrnoGuard keep;
  const TrackerAccess access;
  if (access.usable()) {
    const MarkTurn turn(access);
    if (turn.mine()) access.segments().NoteStopped();
  }
  return static_cast<int>(ChangeStops(by));
}

int Start() { return ChangeStopped(-1); }
int Stop() { return ChangeStopped(1); }

int TakeNamedMoment(const char* name) {
  if (name == nullptr) return 0;
  bool kept = false;
  InTurn([&](const TrackerAccess& access) {
    const uint64_t since = MonotonicNs() - access.region().header().started_ns;
    kept = access.segments().KeepNamedMoment(name, since);
  });
  return kept ? 1 : 0;
}

int Usage(memprof_usage* usage) {
  if (!Counted()) return 0;
  const ErrnoGuard keep;
  const TrackerAccess access;
  if (!access.usable()) return 0;
  const PeakState state = PeakTracker(PeakPlaceOf(access.region())).Load();
  const uint64_t kept = access.segments().KeptPeak();
  const SlotCells::Sums sums = access.sums();
  memprof_usage ours = {};
  ours.flags = FlagIf(IsSampled(access.region()), MEMPROF_SAMPLED);
  ours.process_bytes = state.current;
  ours.process_peak_bytes = static_cast<int64_t>(state.peak > kept ? state.peak : kept);
  ours.thread_bytes = static_cast<int64_t>(sums.allocated_bytes - sums.freed_bytes);
  ours.thread_allocations = sums.allocated_count;
  ours.thread_allocated_bytes = sums.allocated_bytes;
  ours.bound_bytes = access.segments().SlackBound();
  Give(ours, usage);
  return 1;
}

memprof_scope ScopeBegin(const char*, uint32_t flags) {
  ScopeId id = 0;
  InTurn([&](const TrackerAccess& access) {
    const bool watch = (flags & MEMPROF_THREAD) != 0;
    // Before the scope's first moment, so that no event of it goes unwatched.
    if (watch) ChangeWatching(1);
    id = access.segments().Begin(CallerOf(access), watch);
    if (watch && (id == 0 || access.slot() == nullptr)) ChangeWatching(-1);
  });
  return id;
}

int ReadScope(memprof_scope scope, memprof_figures* to, bool end) {
  bool known = false;
  InTurn([&](const TrackerAccess& access) {
    ScopeFigures figures;
    known = access.segments().Read(scope, CallerOf(access), end, &figures);
    if (known) Give(ToClient(figures, IsSampled(access.region())), to);
  });
  return known ? 1 : 0;
}

int ScopeFiguresOf(memprof_scope scope, memprof_figures* to) { return ReadScope(scope, to, false); }
int ScopeEnd(memprof_scope scope, memprof_figures* to) { return ReadScope(scope, to, true); }

void ScopeRelease(memprof_scope scope) {
  if (!Counted()) return;
  const ErrnoGuard keep;
  const TrackerAccess access;
  if (access.usable()) {
    const MarkTurn turn(access);
    if (turn.mine()) {
      if (access.segments().Release(scope)) ChangeWatching(-1);
      return;
    }
  }
  access.segments().ReleaseLater(scope);
}

size_t ScopeStacks(memprof_scope scope, int order, size_t most, memprof_stack_callback callback,
                   void* context) {
  if (callback == nullptr) return 0;
  const ErrnoGuard keep;
  HeaviestStacks stacks;
  const bool taken = InTurn([&](const TrackerAccess& access) {
    stacks.Take(access.region(), access.segments(), scope, static_cast<memprof_order>(order));
  });
  if (!taken) return 0;
  // No lock is held: the callback may allocate, and call any of these functions.
  stacks.Each(most, callback, context);
  return stacks.count();
}

void PoolArena(void* arena) {
  if (arena == nullptr || InArena(arena) || !Counted()) return;
  if (Sampling() && !MaybeSample(arena)) return;
  const ErrnoGuard keep;
  OnPoolArena(arena);
}

void PoolFree(const void* address) {
  if (address == nullptr || !Counted()) return;
  const ErrnoGuard keep;
  OnPoolFree(address);
}

}  // namespace

extern "C" {

// noinline, because its frame leads to the caller's stack, which is counted.
static __attribute__((noinline)) void PoolAlloc(const void* address, size_t bytes) {
  const Caller caller = {MEMPROF_CALLER(), AllocatorKind::kPool};
  if (address == nullptr || !(CountsAll() || CountsSamples())) return;
  const ErrnoGuard keep;
  OnPoolAllocated(address, bytes, caller);
}

[[gnu::visibility("default")]] extern const memprof_client_table memprof_client_v1;
constinit const memprof_client_table memprof_client_v1 = {MEMPROF_CLIENT_VERSION,
                                                          sizeof(memprof_client_table),
                                                          ClientCounted,
                                                          Start,
                                                          Stop,
                                                          TakeNamedMoment,
                                                          Usage,
                                                          ScopeBegin,
                                                          ScopeFiguresOf,
                                                          ScopeEnd,
                                                          ScopeStacks,
                                                          ScopeRelease,
                                                          PoolArena,
                                                          PoolAlloc,
                                                          PoolFree};
}
