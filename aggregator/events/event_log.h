// EventLog: every booked event, in the order in which the ordering word (PeakTracker) took it.
//
// It exists only in the second build of the preload for the tests (MEMPROF_LOG_EVENTS); in the
// product everything here is empty. tests/e2e/event_log_model.py replays the log naively and
// compares.
//
//   MEMPROF_EVENT_LOG=FILE   a file of zeros of the size that the log may have; the first process
//                            that counts is logged
//
//   LogHeader | LogRecord | LogRecord | …
//
// The order: a LoggedEvent holds a spin lock while the event enters the ordering word. So records
// are in the order of the word's exchanges. The order of a block's records can be replayed, too:
// the block leaves (kFreed, kClaimed) before the real allocator gets it back, and comes
// (kAllocated, kReallocated, kClaimReturned) after the allocator gave it out.
//
// Thread safety: any thread, also a signal handler. A handler that interrupts its own thread's
// LoggedEvent can't wait for it, and a LoggedEvent whose holder was left by siglongjmp gives up
// after a while. These events are booked and counted as missed.
// Failure: without room events are counted as overflowed.
#pragma once

#include <atomic>
#include <cstdint>

#include "aggregator/basics/region.h"
#include "aggregator/tables/thread_slot.h"
#include "core/protocol/allocator_kind.h"

namespace memprof {

#ifdef MEMPROF_LOG_EVENTS
inline constexpr bool kLogsEvents = true;
#else
inline constexpr bool kLogsEvents = false;
#endif

enum class EventKind : uint32_t {
  kAllocated = 1,
  kFreed = 2,
  kClaimed = 3,        // no event yet: realloc takes the block out
  kReallocated = 4,    // … and has another block for it: both are one event
  kClaimFreed = 5,     // … or freed the block
  kClaimReturned = 6,  // … or failed: no event
};

struct Event {
  EventKind kind;
  const void* address = nullptr;       // kReallocated: the new address
  uint64_t bytes = 0;                  // allocated
  uint32_t cell = kNoCell;             // that it is booked in
  const StackMemory* stack = nullptr;  // stack of the allocation; nullptr: not available
  AllocatorKind allocator = AllocatorKind::kUnknown;
  uint64_t freed_bytes = 0;
  uint32_t freed_cell = kNoCell;
};

struct LogHeader {
  std::atomic<uint64_t> taken;  // 1: a process logs here, or did
  std::atomic<uint64_t> count;  // number of complete records
  std::atomic<uint64_t> overflowed;
  std::atomic<uint64_t> missed;
};

struct LogRecord {
  EventKind kind;
  uint32_t site;  // kNoRecord: none
  uint32_t freed_site;
  uint32_t allocator;  // AllocatorKind, for an allocation
  uint64_t thread;     // unique for each thread
  uint64_t address;
  uint64_t bytes;
  uint64_t freed_bytes;
  uint64_t stack_hash;  // of the pcs, root first (HashOf); 0: unknown
};
static_assert(sizeof(LogRecord) == 56);

#ifdef MEMPROF_LOG_EVENTS

void OpenEventLog(const Region& region);
void CloseEventLog();  // in a forked child: the log is its parent's

// While it lives, the event enters the ordering word.
class LoggedEvent {
 public:
  explicit LoggedEvent(const Event& event);
  ~LoggedEvent();
  LoggedEvent(const LoggedEvent&) = delete;
  LoggedEvent& operator=(const LoggedEvent&) = delete;

 private:
  bool locked_;
};

#else

inline void OpenEventLog(const Region&) {}
inline void CloseEventLog() {}

struct LoggedEvent {
  [[gnu::always_inline]] explicit LoggedEvent(const Event&) {}
};

#endif

}  // namespace memprof
