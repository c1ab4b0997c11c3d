#include "aggregator/mappings/mappings.h"

#include <cstring>

#include "aggregator/decimal_text.h"
#include "aggregator/events/event_cell.h"
#include "aggregator/events/tables.h"
#include "aggregator/events/thread_scope.h"
#include "aggregator/hooks/real_allocator.h"
#include "aggregator/kernel_calls.h"
#include "aggregator/mappings/mapping_queue.h"
#include "aggregator/system_calls.h"

namespace memprof {
namespace {

constinit MappingBook book{process_region};
constinit MappingQueue queue{process_region, book};
constinit std::atomic<bool> ready{false};

// The end of the path of an open file.
void NameFile(MappingEvent& event, int fd) {
  if (fd < 0 || SystemCallsFiltered()) return;
  char link[48] = "/proc/thread-self/fd/";
  const DecimalText number(static_cast<uint32_t>(fd));
  memcpy(link + strlen(link), number.text(), number.bytes() + 1);
  char path[1024];
  const long bytes = kernel::ReadLink(link, path, sizeof path);
  if (bytes <= 0) return;
  constexpr char kCut[] = "…";
  const auto length = static_cast<size_t>(bytes);
  if (length <= sizeof event.file) {
    memcpy(event.file, path, length);
    event.file_bytes = static_cast<uint32_t>(length);
    return;
  }
  const size_t cut = strlen(kCut);
  size_t kept = sizeof event.file - cut;
  // Not within a character of UTF-8.
  while (kept > 0 && (path[length - kept] & 0xc0) == 0x80) --kept;
  memcpy(event.file, kCut, cut);
  memcpy(event.file + cut, path + length - kept, kept);
  event.file_bytes = static_cast<uint32_t>(cut + kept);
}

bool CountsNew() {
  const uint32_t which = counting->load(std::memory_order_relaxed);
  return which != kStoppedAll && which != kStoppedSamples;
}

}  // namespace

bool InitMappings() {
  if (process_region.header().options.mappings == 0) return true;
  if (!queue.Init()) return false;
  ready.store(true, std::memory_order_release);
  return true;
}

void RestartMappings() {
  if (!ready.load(std::memory_order_relaxed)) return;
  book.Restart();
  queue.Restart();
}

// The tracker, or a forked child's, may begin with this. Not with what an allocator maps: it is
// known which one that is before the tracker is asked.
bool FollowsMapping(const Caller& caller) {
  return RealReady() && !CalledWithin(kInAllocator | kInTracker, caller.registers.sp) &&
         !IsRealAllocators(caller.registers.pc) && Counting() &&
         ready.load(std::memory_order_acquire);
}

uint64_t MappingStamp() { return queue.Stamp(); }

void EnterMapping(MappingEvent& event, const Caller& caller, int fd) {
  const TrackerScope scope;
  ThreadSlot* slot = SlotOf(scope);
  if (CountsNew()) {
    const Where where = CellForSample(slot, 0, caller);
    event.site =
        CellAt(process_region, where.cell()).site_plus_one.load(std::memory_order_relaxed) - 1;
    if (event.what.kind == MappingKind::kFile) NameFile(event, fd);
  } else {  // what was there is gone all the same
    event.from = event.kind == MappingEvent::Kind::kMap ? event.start : event.from;
    event.from_end = event.kind == MappingEvent::Kind::kMap ? event.end : event.from_end;
    event.from_stamp = event.stamp;
    event.kind = MappingEvent::Kind::kUnmap;
  }
  if (!ForkedMeanwhile()) queue.Enter(event);
}

void EnterUnmapping(const MappingEvent& event) {
  const TrackerScope scope;
  if (!ForkedMeanwhile()) queue.Enter(event);
}

}  // namespace memprof
