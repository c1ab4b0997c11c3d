// EventLog: every booked event in the order in which the ordering word (PeakTracker) took it.
//
// Only in the second build of the preload that the tests have (MEMPROF_LOG_EVENTS); in the product
// everything here is empty. tests/e2e/event_log_model.py replays the log naively and compares.
//
//   MEMPROF_EVENT_LOG=FILE   a file of zeros of the size that the log may have; logged is the first
//                            process that counts
//
//   LogHeader | LogRecord | LogRecord | …
//
// The order: a LoggedEvent holds a spin lock while the event enters the ordering word. So records
// lie as the word's exchanges came. A block's address is in the log in an order that can be
// replayed too: it leaves (kFreed, kClaimed) before the real allocator has it and comes
// (kAllocated, kReallocated, kClaimReturned) after that gave it.
//
// Thread safety: any thread, also a signal handler. One that interrupts its own thread's
// LoggedEvent can't wait for it, and one whose holder was left by siglongjmp gives up after a
// while: these events are booked and counted as missed. Failure: without room events are counted as
// overflowed.
#pragma once

#include <atomic>
#include <cstdint>

#include "aggregator/region.h"
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
  kReallocated = 4,    // … and has another for it: both as one event
  kClaimFreed = 5,     // … or freed it
  kClaimReturned = 6,  // … or failed: no event
};

struct Event {
  EventKind kind;
  const void* address = nullptr;       // kReallocated: the new one
  uint64_t bytes = 0;                  // allocated
  uint32_t cell = kNoCell;             // that it is booked in
  const StackMemory* stack = nullptr;  // of the allocation; nullptr: not at hand
  AllocatorKind allocator = AllocatorKind::kUnknown;
  uint64_t freed_bytes = 0;
  uint32_t freed_cell = kNoCell;
};

struct LogHeader {
  std::atomic<uint64_t> taken;  // 1: a process logs here, or did
  std::atomic<uint64_t> count;  // records that are complete
  std::atomic<uint64_t> overflowed;
  std::atomic<uint64_t> missed;
};

struct LogRecord {
  EventKind kind;
  uint32_t site;  // kNoRecord: none
  uint32_t freed_site;
  uint32_t allocator;  // AllocatorKind of an allocation
  uint64_t thread;     // another one for each thread
  uint64_t address;
  uint64_t bytes;
  uint64_t freed_bytes;
  uint64_t stack_hash;  // of the pcs, root first (HashOf); 0: unknown
};
static_assert(sizeof(LogRecord) == 56);

#ifdef MEMPROF_LOG_EVENTS

void OpenEventLog(const Region& region);
void CloseEventLog();  // in a forked child: the log is its parent's

// While it lives the event enters the ordering word.
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
