#include "aggregator/life.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "aggregator/arrival.h"
#include "aggregator/counting_mode.h"
#include "aggregator/fork/child_slot.h"
#include "aggregator/fork/forked_child.h"
#include "aggregator/hooks/errno_guard.h"
#include "aggregator/hooks/hook.h"
#include "aggregator/private_memory.h"
#include "aggregator/statistics/allocator_statistics.h"
#include "aggregator/system_calls.h"
#include "aggregator/tracker.h"

extern "C" char** environ;

namespace memprof {
namespace {

enum class Life : uint32_t { kNotStarted, kStarting, kStarted, kOff };

constinit std::atomic<uint32_t> never{0};
constinit std::atomic<Life> life{Life::kNotStarted};
constinit MappedRegion mapped;

void StopInForkedChild() { counting->store(0, std::memory_order_relaxed); }

// The page that says that this process counts; nullptr without memory.
std::atomic<uint32_t>* MapCountingPage() {
  void* page = MapMemory(kPageBytes);
  if (page == nullptr) return nullptr;
  CountPrivateBytes(kPageBytes);
  // Catches raw clone too. Where the kernel (before 4.14) can't, fork() at least is caught.
  if (madvise(page, kPageBytes, MADV_WIPEONFORK) != 0) {
    pthread_atfork(nullptr, nullptr, StopInForkedChild);
  }
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
  UseChildrenArea(mapped);
  if (!BeforeCounting()) return false;
  page->store(UsualMode(CurrentRegion().options), std::memory_order_relaxed);
  counting = page;
  return true;
}

// A hook that was interrupted by the signal handler that forked ends first.
bool StartInForkedChild() {
  Life now = Life::kStarted;
  if ((thread_state.scope & kScopeFlags) != 0 ||
      !life.compare_exchange_strong(now, Life::kStarting, std::memory_order_acq_rel)) {
    return false;
  }
  const ErrnoGuard keep;
  RegionHeader& parent = CurrentRegion();
  const bool started = StartCountingInChild();
  if (started) {
    counting->store(UsualMode(CurrentRegion().options), std::memory_order_relaxed);
    RestartCountingMode();
  } else {
    parent.fork_children.fetch_add(1, std::memory_order_relaxed);
  }
  life.store(started ? Life::kStarted : Life::kOff, std::memory_order_release);
  return started;
}

// VmHWM of /proc/self/status, in bytes; 0: not known. No stdio: this runs in the host's exit.
uint64_t ReadRssPeak() {
  const int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  static char text[4096];  // a process exits once, on whichever stack
  const ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
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
  if (!InAllocator()) {
    ReportAllocatorAtEnd(MEMPROF_CALLER());
  }
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
  // Before libc has set its environment (the loader's own first allocations) it is too early.
  if (now != Life::kNotStarted || environ == nullptr) return false;
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
