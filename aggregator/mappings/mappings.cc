#include "aggregator/mappings/mappings.h"

#include <cstring>

#include "aggregator/allocator/real_allocator.h"
#include "aggregator/basics/decimal_text.h"
#include "aggregator/basics/kernel_calls.h"
#include "aggregator/basics/libc_functions.h"
#include "aggregator/basics/system_calls.h"
#include "aggregator/events/event_cell.h"
#include "aggregator/events/left_scope.h"
#include "aggregator/events/thread_scope.h"
#include "aggregator/mappings/mapping_queue.h"
#include "aggregator/state/counting.h"
#include "aggregator/state/process_tables.h"
#include "aggregator/state/thread_state.h"

namespace memprof {
namespace {

constinit MappingBook book{process_region};
constinit MappingQueue queue{process_region, book};
constinit std::atomic<bool> ready{false};
constinit ByteRange left_out = {};

// Stores the end of the path of an open file.
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

bool LibcAllocates() {
  return IsRealAllocators(reinterpret_cast<uintptr_t>(TheLibc().in_libc.Load()));
}

bool CountsNew() {
  const CountingMode mode = CurrentMode();
  return mode != CountingMode::kStoppedAll && mode != CountingMode::kStoppedSamples;
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

void LeaveOutMappingsOf(ByteRange code) { left_out = code; }

// This may be the first event that starts the tracker, also in a forked child. A mapping of the
// allocator's must not: the allocator is known before the tracker is asked.
bool FollowsMapping(const Caller& caller) {
  if (!RealReady() || IsRealAllocators(caller.registers.pc)) return false;
  if (left_out.Contains(caller.registers.pc - 1)) return false;
  // A signal handler interrupted the hook, or the allocator calls by way of another library. glibc's
  // allocator maps without a hook, so with it the caller is a handler. The tracker itself calls no
  // hook.
  if (CalledWithin(kInAllocator, caller.registers.sp) && !LibcAllocates()) return false;
  return Counting() && ready.load(std::memory_order_acquire);
}

void NoteUnknownMapping() {
  if (ready.load(std::memory_order_acquire)) Count(process_region.header().mappings.unentered);
}

uint64_t MappingStamp() { return queue.Stamp(); }

void EnterMapping(MappingEvent& event, const Caller& caller, int fd) {
  const TrackerScope scope;
  ThreadSlot* slot = SlotOf(scope);
  if (CountsNew()) {
    const Where where = CellForSample(slot, 0, caller);
    event.site = SiteOfCell(process_region, where.cell());
    if (event.what.kind == MappingKind::kFile) NameFile(event, fd);
  } else {  // the old mapping is gone anyway
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
