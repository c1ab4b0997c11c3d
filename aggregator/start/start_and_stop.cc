#include "aggregator/start/start_and_stop.h"

#include <unistd.h>

#include <cstring>

#include "aggregator/basics/errno_guard.h"
#include "aggregator/basics/kernel_calls.h"
#include "aggregator/basics/libc_functions.h"
#include "aggregator/basics/private_memory.h"
#include "aggregator/basics/system_call_filters.h"
#include "aggregator/basics/system_calls.h"
#include "aggregator/events/caller.h"
#include "aggregator/events/python_frames.h"
#include "aggregator/fork/child_slot.h"
#include "aggregator/fork/forked_child.h"
#include "aggregator/hooks/bypasses.h"
#include "aggregator/start/loading.h"
#include "aggregator/start/start_counting.h"
#include "aggregator/state/counting.h"
#include "aggregator/state/process_tables.h"
#include "aggregator/state/start_tracker.h"
#include "aggregator/state/thread_state.h"
#include "aggregator/statistics/allocator_statistics.h"

namespace memprof {
namespace {

enum class Phase : uint32_t { kNotStarted, kStarting, kStarted, kStartingInChild, kOff };

constinit std::atomic<Phase> phase{Phase::kNotStarted};
constinit std::atomic<uint64_t> events_before_start{0};

void StopInForkedChild() { counting->store(CountingMode::kNone, std::memory_order_relaxed); }

// Maps the page that says that this process counts; nullptr without memory.
std::atomic<CountingMode>* MapCountingPage() {
  void* page = MapMemory(kPageBytes);
  if (page == nullptr) return nullptr;
  CountPrivateBytes(kPageBytes);
  // Also covers raw clone. If the kernel (before 4.14) can't wipe pages, at least fork() is
  // noticed.
  if (!kernel::Advise(page, kPageBytes, MADV_WIPEONFORK)) {
    AtFork(nullptr, nullptr, StopInForkedChild);
  }
  PrepareForForks(static_cast<unsigned char*>(page) + kPageBytes - kForkNoteBytes,
                  CurrentRegion().options);
  return static_cast<std::atomic<CountingMode>*>(page);
}

CountingMode UsualMode(const TrackerOptions& options) {
  return options.sample_bytes != 0          ? CountingMode::kSamples
         : options.temporary_threshold == 1 ? CountingMode::kAll
                                            : CountingMode::kAllUnusual;
}

void GiveUp(StopReason reason) {
  RegionHeader& header = CurrentRegion();
  header.stop_reason.store(static_cast<uint32_t>(reason), std::memory_order_relaxed);
  header.state.store(static_cast<uint32_t>(TrackerState::kStopped), std::memory_order_release);
}

// Called once in a process: other threads see that it was started.
bool Start() {
  const ErrnoGuard keep;
  if (!HasGlibc()) return false;
  mapped_region = GetRegion();
  if (mapped_region.base == nullptr) return false;
  if (!StartCounting(mapped_region)) return false;
  std::atomic<CountingMode>* page = MapCountingPage();
  if (page == nullptr) {
    GiveUp(StopReason::kNoMemory);
    return false;
  }
  PopulateOwnImage();
  PublishPrivateBytes(&CurrentRegion().private_bytes);
  CurrentRegion().dropped_events.fetch_add(events_before_start.load(std::memory_order_relaxed),
                                           std::memory_order_relaxed);
  UseChildrenArea(mapped_region);
  if (!BeforeCounting()) return false;
  page->store(UsualMode(CurrentRegion().options), std::memory_order_relaxed);
  counting = page;
  PublishBypasses();
  return true;
}

// Another thread of the child is starting, which takes less than a millisecond and waits for
// nobody.
bool AwaitStartInForkedChild() {
  constexpr int kMostLooks = 2000;  // that thread may get little processor time
  constexpr int kPauses = 64;
  const ErrnoGuard keep;
  for (int look = 0; look < kMostLooks; ++look) {
    if (phase.load(std::memory_order_acquire) != Phase::kStartingInChild) break;
    for (int i = 0; i < kPauses; ++i) __builtin_ia32_pause();
    if (!SystemCallsFiltered()) kernel::Call(SYS_sched_yield);
  }
  if (CountsAnything()) return true;
  if (phase.load(std::memory_order_relaxed) == Phase::kStartingInChild) DropEventBeforeStart();
  return false;
}

// A hook that was interrupted by the forking signal handler has to end first.
bool StartInForkedChild() {
  if ((thread_state.scope & kScopeFlags) != 0) return false;
  const ErrnoGuard keep;
  SystemCallsFilteredByNow();
  if (!MayStartCountingInChild()) {
    DropEventBeforeStart();
    return false;
  }
  Phase now = Phase::kStarted;
  if (!phase.compare_exchange_strong(now, Phase::kStartingInChild, std::memory_order_acq_rel)) {
    return now == Phase::kStartingInChild ? AwaitStartInForkedChild() : CountsAnything();
  }
  if (CountsAnything()) {  // another thread has started it since the look
    phase.store(Phase::kStarted, std::memory_order_release);
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
  phase.store(started ? Phase::kStarted : Phase::kOff, std::memory_order_release);
  return started;
}

// VmHWM of /proc/thread-self/status, in bytes; 0: not known. No stdio: this runs in the program's
// exit.
uint64_t ReadRssPeak() {
  const int fd = kernel::Open("/proc/thread-self/status", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  static char text[4096];  // static, because the stack may be small; a process exits only once
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

// Events may follow, because other destructors free. They are counted; the region outlives us.
[[gnu::destructor]] void OnExit() {
  if (!CountsAnything()) return;
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

bool StartTracker() {
  Phase now = phase.load(std::memory_order_acquire);
  if (now == Phase::kStarted && !CountsAnything()) {
    return StartInForkedChild();
  }
  if (now == Phase::kStartingInChild && (thread_state.scope & kScopeFlags) == 0) {
    return AwaitStartInForkedChild();
  }
  if (now != Phase::kNotStarted) return false;
  // Before libc has set its environment it is too early: in ifunc resolvers, and in functions of
  // .preinit_array.
  if (__environ == nullptr) {
    events_before_start.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  if (!phase.compare_exchange_strong(now, Phase::kStarting, std::memory_order_acq_rel))
    return false;
  const bool started = Start();
  phase.store(started ? Phase::kStarted : Phase::kOff, std::memory_order_release);
  return started;
}

bool StartAgain() {
  Phase now = phase.load(std::memory_order_acquire);
  if (now == Phase::kStarting || now == Phase::kStarted ||
      !phase.compare_exchange_strong(now, Phase::kStarting, std::memory_order_acq_rel)) {
    return false;
  }
  const bool started = Start();
  phase.store(started ? Phase::kStarted : Phase::kOff, std::memory_order_release);
  return started;
}

void StopTracker() {
  StopPython();
  // First this: otherwise the next event would take the process for a forked child.
  phase.store(Phase::kOff, std::memory_order_release);
  if (counting->exchange(CountingMode::kNone, std::memory_order_acq_rel) == CountingMode::kNone) {
    return;
  }
  CurrentRegion().state.store(static_cast<uint32_t>(TrackerState::kFinished),
                              std::memory_order_release);
}

}  // namespace memprof
