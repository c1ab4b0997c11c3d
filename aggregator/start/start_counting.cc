#include "aggregator/start/start_counting.h"

#include "aggregator/basics/kernel_calls.h"
#include "aggregator/basics/libc_functions.h"
#include "aggregator/basics/monotonic_clock.h"
#include "aggregator/events/event_log.h"
#include "aggregator/events/heap_places.h"
#include "aggregator/events/sampler.h"
#include "aggregator/events/thread_scope.h"
#include "aggregator/mappings/mappings.h"
#include "aggregator/state/process_tables.h"

namespace memprof {
namespace {

constexpr size_t kMaxLiveBlocks = size_t{1} << 31;

bool CreateExitKey() {
  const LibcFunctions& libc = TheLibc();
  return libc.key_create != nullptr && libc.setspecific != nullptr &&
         libc.key_create(&exit_key, ReleaseAtThreadExit) == 0;
}

}  // namespace

bool StartCounting(const MappedRegion& mapped) {
  if (!process_region.Attach(mapped.base, mapped.bytes)) return false;
  RegionHeader& header = process_region.header();
  const uint32_t threshold = header.options.temporary_threshold;
  temporary_threshold = threshold - 1 < kMaxTemporaryThreshold ? threshold : 1;
  header.pid = kernel::Pid();
  header.started_ns = MonotonicNs();
  StopReason trouble = StopReason::kNone;
  if (!ModuleTable::Init() || !InitUnwinder()) {
    trouble = StopReason::kNoFindObject;
  } else if (!stacks.Init() || !slot_cells.Init() || !live.Init(kMaxLiveBlocks) ||
             !CreateExitKey() || !StartSampler(header.options) || !InitMappings()) {
    trouble = StopReason::kNoMemory;
  }
  OpenEventLog(process_region);
  if (trouble == StopReason::kNone) PublishHeapPlaces();
  header.stop_reason.store(static_cast<uint32_t>(trouble), std::memory_order_relaxed);
  const auto state =
      trouble == StopReason::kNone ? TrackerState::kCounting : TrackerState::kStopped;
  header.state.store(static_cast<uint32_t>(state), std::memory_order_release);
  return trouble == StopReason::kNone;
}

}  // namespace memprof
