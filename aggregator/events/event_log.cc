#include "aggregator/events/event_log.h"

#include "aggregator/basics/environment.h"
#include "aggregator/basics/kernel_calls.h"

namespace memprof {
namespace {

constexpr uint64_t kMostSpins = uint64_t{1} << 28;  // about a second

constinit const Region* region = nullptr;
constinit LogHeader* header = nullptr;
constinit uint64_t capacity = 0;
constinit std::atomic<uint32_t> locked{0};
constinit thread_local bool holds = false;
constinit std::atomic<uint64_t> threads{0};
constinit thread_local uint64_t this_thread = 0;

bool Lock() {
  if (holds) return false;
  holds = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  for (uint64_t spins = 0; locked.exchange(1, std::memory_order_acquire) != 0; ++spins) {
    if (spins == kMostSpins) {
      holds = false;
      return false;
    }
    // On a machine with few cores the holder may be waiting for our core.
    if (spins % 256 == 255) {
      kernel::Yield();
    } else {
      __builtin_ia32_pause();
    }
  }
  return true;
}

void Unlock() {
  locked.store(0, std::memory_order_release);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  holds = false;
}

uint64_t HashOf(const StackMemory* stack) {
  if (stack == nullptr || stack->depth == 0) return 0;
  uint64_t hash = 0xcbf29ce484222325ull;
  for (uint32_t i = 0; i < stack->depth; ++i) {
    hash = (hash ^ stack->frames[i].pc) * 0x100000001b3ull;
  }
  return hash;
}

uint32_t SiteOf(uint32_t cell) {
  if (cell == kNoCell) return kNoRecord;
  return SiteOfCell(*region, cell);
}

void Append(const Event& event) {
  const uint64_t index = header->count.load(std::memory_order_relaxed);
  if (index == capacity) {
    header->overflowed.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  if (this_thread == 0) this_thread = threads.fetch_add(1, std::memory_order_relaxed) + 1;
  reinterpret_cast<LogRecord*>(header + 1)[index] = {event.kind,
                                                     SiteOf(event.cell),
                                                     SiteOf(event.freed_cell),
                                                     static_cast<uint32_t>(event.allocator),
                                                     this_thread,
                                                     reinterpret_cast<uintptr_t>(event.address),
                                                     event.bytes,
                                                     event.freed_bytes,
                                                     HashOf(event.stack)};
  header->count.store(index + 1, std::memory_order_release);
}

}  // namespace

void OpenEventLog(const Region& counted) {
  const char* path = EnvironmentValue("MEMPROF_EVENT_LOG");
  const int fd = path != nullptr ? kernel::Open(path, O_RDWR | O_CLOEXEC) : -1;
  if (fd < 0) return;
  struct stat info;
  if (kernel::Stat(fd, &info) == 0 && static_cast<uint64_t>(info.st_size) > sizeof(LogHeader)) {
    const auto bytes = static_cast<uint64_t>(info.st_size);
    void* log = kernel::Map(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
    uint64_t free = 0;
    if (log != nullptr && static_cast<LogHeader*>(log)->taken.compare_exchange_strong(free, 1)) {
      region = &counted;
      capacity = (bytes - sizeof(LogHeader)) / sizeof(LogRecord);
      header = static_cast<LogHeader*>(log);
    }
  }
  kernel::Close(fd);
}

void CloseEventLog() { header = nullptr; }

LoggedEvent::LoggedEvent(const Event& event) : locked_(header != nullptr && Lock()) {
  if (locked_) {
    Append(event);
  } else if (header != nullptr) {
    header->missed.fetch_add(1, std::memory_order_relaxed);
  }
}

LoggedEvent::~LoggedEvent() {
  if (locked_) Unlock();
}

}  // namespace memprof
