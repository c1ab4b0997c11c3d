#include "aggregator/life.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "aggregator/hooks/errno_guard.h"
#include "aggregator/private_memory.h"
#include "aggregator/system_calls.h"
#include "aggregator/tracker.h"
#include "core/handshake.h"

extern "C" char** environ;

namespace memprof {
namespace {

enum class Life : uint32_t { kNotStarted, kStarting, kStarted, kOff };

constinit std::atomic<uint32_t> never{0};
constinit std::atomic<Life> life{Life::kNotStarted};

// getenv, without trusting that libc is initialised.
const char* Variable(const char* name) {
  const size_t bytes = strlen(name);
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (strncmp(*entry, name, bytes) == 0 && (*entry)[bytes] == '=') return *entry + bytes + 1;
  }
  return nullptr;
}

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

// Called once a process: the others see that it was started.
bool Start() {
  const ErrnoGuard keep;
  const char* socket_path = Variable(kSocketVariable);
  if (socket_path == nullptr) return false;
  const MappedRegion mapped = ReceiveRegion(socket_path);
  if (mapped.base == nullptr) return false;
  std::atomic<uint32_t>* page = MapCountingPage();
  if (page == nullptr || !StartCounting(mapped)) return false;
  PopulateOwnImage();
  PublishPrivateBytes(&CurrentRegion().private_bytes);
  const TrackerOptions& options = CurrentRegion().options;
  page->store(options.sample_bytes != 0          ? kCountsSamples
              : options.temporary_threshold == 1 ? kCountsAll
                                                 : kCountsAllTemporaries,
              std::memory_order_relaxed);
  counting = page;
  return true;
}

void NoteForkedChild() {
  life.store(Life::kOff, std::memory_order_relaxed);
  CurrentRegion().fork_children.fetch_add(1, std::memory_order_relaxed);
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

// What never allocates is tracked too, or the supervisor would say that no tracker came.
[[gnu::constructor]] void OnLoaded() { static_cast<void>(Counting()); }

// Events may follow: other destructors free. They are counted; the region outlives us.
[[gnu::destructor]] void OnExit() {
  if (counting->load(std::memory_order_relaxed) == 0) return;
  const ErrnoGuard keep;
  if (!SystemCallsFiltered()) {
    CurrentRegion().rss_peak_bytes.store(ReadRssPeak(), std::memory_order_relaxed);
  }
  CurrentRegion().state.store(static_cast<uint32_t>(TrackerState::kFinished),
                              std::memory_order_release);
}

}  // namespace

constinit std::atomic<uint32_t>* counting = &never;

bool StartTracker() {
  Life now = life.load(std::memory_order_acquire);
  if (now == Life::kStarted && counting->load(std::memory_order_relaxed) == 0) NoteForkedChild();
  // Before libc has set its environment (the loader's own first allocations) it is too early.
  if (now != Life::kNotStarted || environ == nullptr) return false;
  if (!life.compare_exchange_strong(now, Life::kStarting, std::memory_order_acq_rel)) return false;
  const bool started = Start();
  life.store(started ? Life::kStarted : Life::kOff, std::memory_order_release);
  return started;
}

bool CountsAllUnusually() {
  const auto all = [](uint32_t which) {
    return which == kCountsAll || which == kCountsAllTemporaries;
  };
  const uint32_t which = counting->load(std::memory_order_relaxed);
  if (which == kCountsSamples || all(which)) return all(which);
  return StartTracker() && all(counting->load(std::memory_order_relaxed));
}

}  // namespace memprof
