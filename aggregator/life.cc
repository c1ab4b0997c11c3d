#include "aggregator/life.h"

#include <unistd.h>

#include <cstring>

#include "aggregator/arrival.h"
#include "aggregator/counting_mode.h"
#include "aggregator/fork/child_slot.h"
#include "aggregator/fork/forked_child.h"
#include "aggregator/hooks/bypasses.h"
#include "aggregator/hooks/errno_guard.h"
#include "aggregator/hooks/hook.h"
#include "aggregator/kernel_calls.h"
#include "aggregator/libc_functions.h"
#include "aggregator/private_memory.h"
#include "aggregator/statistics/allocator_statistics.h"
#include "aggregator/system_call_filters.h"
#include "aggregator/tracker.h"

namespace memprof {
namespace {

enum class Life : uint32_t { kNotStarted, kStarting, kStarted, kStartingInChild, kOff };

constinit std::atomic<uint32_t> never{0};
constinit std::atomic<Life> life{Life::kNotStarted};
constinit MappedRegion mapped;
constinit std::atomic<uint64_t> events_before_start{0};

void StopInForkedChild() { counting->store(0, std::memory_order_relaxed); }

// The page that says that this process counts; nullptr without memory.
std::atomic<uint32_t>* MapCountingPage() {
  void* page = MapMemory(kPageBytes);
  if (page == nullptr) return nullptr;
  CountPrivateBytes(kPageBytes);
  // Catches raw clone too. Where the kernel (before 4.14) can't, fork() at least is caught.
  if (!kernel::Advise(page, kPageBytes, MADV_WIPEONFORK)) {
    AtFork(nullptr, nullptr, StopInForkedChild);
  }
  PrepareForForks(static_cast<unsigned char*>(page) + kPageBytes - kForkNoteBytes,
                  CurrentRegion().options);
  return static_cast<std::atomic<uint32_t>*>(page);
}

uint32_t UsualMode(const TrackerOptions& options) {
  return options.sample_bytes != 0          ? kCountsSamples
         : options.temporary_threshold == 1 ? kCountsAll
                                            : kCountsAllUnusual;
}

void GiveUp(StopReason reason) {
  RegionHeader& header = CurrentRegion();
  header.stop_reason.store(static_cast<uint32_t>(reason), std::memory_order_relaxed);
  header.state.store(static_cast<uint32_t>(TrackerState::kStopped), std::memory_order_release);
}

// Called once a process: the others see that it was started.
bool Start() {
  const ErrnoGuard keep;
  if (!HasGlibc()) return false;
  mapped = GetRegion();
  if (mapped.base == nullptr) return false;
  if (!StartCounting(mapped)) return false;
  std::atomic<uint32_t>* page = MapCountingPage();
  if (page == nullptr) {
    GiveUp(StopReason::kNoMemory);
    return false;
  }
  PopulateOwnImage();
  PublishPrivateBytes(&CurrentRegion().private_bytes);
  CurrentRegion().dropped_events.fetch_add(events_before_start.load(std::memory_order_relaxed),
                                           std::memory_order_relaxed);
  UseChildrenArea(mapped);
  if (!BeforeCounting()) return false;
  page->store(UsualMode(CurrentRegion().options), std::memory_order_relaxed);
  counting = page;
  PublishBypasses();
  return true;
}

// Another thread of the child starts, which takes less than a millisecond and waits for nobody.
bool AwaitStartInForkedChild() {
  constexpr int kMostLooks = 2000;  // that thread may be one which a lot keeps from running
  constexpr int kPauses = 64;
  const ErrnoGuard keep;
  for (int look = 0; look < kMostLooks; ++look) {
    if (life.load(std::memory_order_acquire) != Life::kStartingInChild) break;
    for (int i = 0; i < kPauses; ++i) __builtin_ia32_pause();
    if (!SystemCallsFiltered()) kernel::Call(SYS_sched_yield);
  }
  if (counting->load(std::memory_order_relaxed) != 0) return true;
  if (life.load(std::memory_order_relaxed) == Life::kStartingInChild) DropEventBeforeStart();
  return false;
}

// A hook that was interrupted by the signal handler that forked ends first.
bool StartInForkedChild() {
  if ((thread_state.scope & kScopeFlags) != 0) return false;
  const ErrnoGuard keep;
  SystemCallsFilteredByNow();
  if (!MayStartCountingInChild()) {
    DropEventBeforeStart();
    return false;
  }
  Life now = Life::kStarted;
  if (!life.compare_exchange_strong(now, Life::kStartingInChild, std::memory_order_acq_rel)) {
    return now == Life::kStartingInChild ? AwaitStartInForkedChild() : CountsAnything();
  }
  if (CountsAnything()) {  // another thread has started it since we looked
    life.store(Life::kStarted, std::memory_order_release);
    return true;
  }
  RegionHeader* const parent = HasParentsRegion() ? &CurrentRegion() : nullptr;
  bool started;
  {
    const AllocatorScope no_event_of_a_handler;
    started = StartCountingInChild();
  }
  if (started) {
    counting->store(UsualMode(CurrentRegion().options), std::memory_order_seq_cst);
    RestartCountingMode();
    PublishBypasses();
    BookDroppedBeforeStart();
  } else if (parent != nullptr) {
    parent->fork_children.fetch_add(1, std::memory_order_relaxed);
  }
  life.store(started ? Life::kStarted : Life::kOff, std::memory_order_release);
  return started;
}

// VmHWM of /proc/thread-self/status, in bytes; 0: not known. No stdio: this runs in the host's
// exit.
uint64_t ReadRssPeak() {
  const int fd = kernel::Open("/proc/thread-self/status", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  static char text[4096];  // a process exits once, on whichever stack
  const long n = kernel::Read(fd, text, sizeof text - 1);
  kernel::Close(fd);
  if (n <= 0) return 0;
  text[n] = 0;
  const char* at = strstr(text, "VmHWM:");
  if (at == nullptr) return 0;
  uint64_t kib = 0;
  for (at += 6; *at == ' ' || *at == '\t'; ++at) {
  }
  for (; *at >= '0' && *at <= '9'; ++at) kib = kib * 10 + static_cast<uint64_t>(*at - '0');
  return kib * 1024;
}

// Events may follow: other destructors free. They are counted; the region outlives us.
[[gnu::destructor]] void OnExit() {
  if (counting->load(std::memory_order_relaxed) == 0) return;
  const ErrnoGuard keep;
  SystemCallsFilteredByNow();
  ReportAllocatorAtEnd(MEMPROF_CALLER());
  LookForBypassesAtEnd();
  if (!SystemCallsFiltered()) {
    CurrentRegion().rss_peak_bytes.store(ReadRssPeak(), std::memory_order_relaxed);
  }
  NoteExit();
  CurrentRegion().state.store(static_cast<uint32_t>(TrackerState::kFinished),
                              std::memory_order_release);
}

}  // namespace

constinit std::atomic<uint32_t>* counting = &never;

bool StartTracker() {
  Life now = life.load(std::memory_order_acquire);
  if (now == Life::kStarted && counting->load(std::memory_order_relaxed) == 0) {
    return StartInForkedChild();
  }
  if (now == Life::kStartingInChild && (thread_state.scope & kScopeFlags) == 0) {
    return AwaitStartInForkedChild();
  }
  if (now != Life::kNotStarted) return false;
  // Before libc has set its environment it is too early: in functions that choose another one
  // (ifunc), and in those of .preinit_array.
  if (__environ == nullptr) {
    events_before_start.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  if (!life.compare_exchange_strong(now, Life::kStarting, std::memory_order_acq_rel)) return false;
  const bool started = Start();
  life.store(started ? Life::kStarted : Life::kOff, std::memory_order_release);
  return started;
}

bool StartAgain() {
  Life now = life.load(std::memory_order_acquire);
  if (now == Life::kStarting || now == Life::kStarted ||
      !life.compare_exchange_strong(now, Life::kStarting, std::memory_order_acq_rel)) {
    return false;
  }
  const bool started = Start();
  life.store(started ? Life::kStarted : Life::kOff, std::memory_order_release);
  return started;
}

void StopTracker() {
  // First this, or the next event would take us for a forked child.
  life.store(Life::kOff, std::memory_order_release);
  if (counting->exchange(0, std::memory_order_acq_rel) == 0) return;
  CurrentRegion().state.store(static_cast<uint32_t>(TrackerState::kFinished),
                              std::memory_order_release);
}

const MappedRegion& RegionMapping() { return mapped; }

bool CountsAllUnusually() {
  const auto all = [](uint32_t which) { return which == kCountsAll || which == kCountsAllUnusual; };
  const uint32_t which = counting->load(std::memory_order_relaxed);
  if (which != 0) return all(which);
  return StartTracker() && all(counting->load(std::memory_order_relaxed));
}

}  // namespace memprof
