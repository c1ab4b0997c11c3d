#include "cli/supervisor/images/memory_watch.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string>
#include <utility>

#include "cli/basics/background_work.h"
#include "cli/basics/descriptor_reserve.h"
#include "cli/basics/proc_files.h"
#include "cli/basics/thread_time.h"
#include "cli/supervisor/images/image_history.h"
#include "cli/supervisor/images/resident_parts.h"
#include "core/region/region_reader.h"
#include "core/region/region_view.h"
#include "core/snapshot/allocator_tells.h"

namespace memprof {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

constexpr size_t kMostText = size_t{256} << 20;
constexpr uint64_t kClocksDiffer = 2;      // ms: the tracker's times begin when it started
constexpr uint64_t kUsualStack = 2 << 20;  // glibc's size if there is no limit

std::string ReadAll(int fd) {
  std::string text;
  char buffer[65536];
  while (text.size() < kMostText) {
    const ssize_t n = pread(fd, buffer, sizeof buffer, static_cast<off_t>(text.size()));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    text.append(buffer, static_cast<size_t>(n));
  }
  return text;
}

// The path in the form of /proc/PID/smaps.
std::string PathOf(int fd) {
  char path[4096];
  const ssize_t n = readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), path, sizeof path);
  return n > 0 ? std::string(path, static_cast<size_t>(n)) : std::string();
}

// The size of new threads' stacks.
uint64_t StackLimitOf(pid_t pid) {
  rlimit limit = {};
  if (prlimit(pid, RLIMIT_STACK, nullptr, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return kUsualStack;
  }
  return limit.rlim_cur;
}

AllocatorSample SaidBy(const RegionPlace& place) {
  const auto region = RegionView::Open(place);
  return region ? ReadAllocator(*region) : AllocatorSample();
}

}  // namespace

MemoryWatch::MemoryWatch(const RegionPlace& region, pid_t pid, steady_clock::time_point start)
    : region_(region),
      // The files that are opened now belong to this image, whatever the process executes later.
      smaps_(UnlessInReserve(OpenProcFile(pid, "smaps"))),
      pagemap_(UnlessInReserve(OpenProcFile(pid, "pagemap"))),
      start_(start),
      stack_limit_(StackLimitOf(pid)) {
  gone_ = !smaps_;
}

MemoryWatch::~MemoryWatch() {
  if (reading_.valid()) reading_.wait();
}

uint64_t MemoryWatch::NowMs() const {
  return static_cast<uint64_t>(
      std::chrono::floor<milliseconds>(steady_clock::now() - start_).count());
}

void MemoryWatch::Look() {
  if (gone_) return;
  if (reading_.valid()) {
    if (!Done()) return;
    Collect();
  }
  if (!gone_ && NowMs() >= series_.NextDueMs()) Start();
}

steady_clock::time_point MemoryWatch::NextLook() const {
  // A running look is collected with the next event.
  if (gone_ || reading_.valid()) return steady_clock::time_point::max();
  return start_ + milliseconds(series_.NextDueMs());
}

MemoryWatch::Reading MemoryWatch::Read() const {
  const nanoseconds before = ThreadTime();
  const auto cost = [&] { return ThreadTime() - before; };
  const auto region = RegionView::Open(region_);
  if (!region) return {std::nullopt, cost()};
  const uint64_t time_ms = NowMs();
  const auto peak = ReadPeak(region_);
  const std::vector<LiveRange> ranges = ReadRanges(*region);
  const TrackerMemory tracker = {region->header().private_bytes.load(std::memory_order_relaxed),
                                 PathOf(region_.fd)};
  MemorySample sample = ResidentParts(ParseSmaps(ReadAll(smaps_.get())), ranges, tracker,
                                      stack_limit_, pagemap_.get());
  if (!peak || sample.rss_bytes == 0) return {std::nullopt, cost()};  // the process is gone
  sample.time_ms = time_ms;
  sample.live_bytes = static_cast<uint64_t>(std::max<int64_t>(peak->current, 0));
  sample.allocator = ReadAllocator(*region);
  // Asks for new figures, for the next sample.
  const uint32_t wanted = region->header().allocator_wanted.load(std::memory_order_relaxed) + 1;
  if (pwrite(region_.fd, &wanted, sizeof wanted,
             static_cast<off_t>(region_.offset + offsetof(RegionHeader, allocator_wanted))) < 0) {
    sample.allocator = {};
  }
  return {sample, cost()};
}

void MemoryWatch::Start() {
  reading_ = InBackground([this] { return Read(); });
}

void MemoryWatch::Collect() {
  Reading read = reading_.get();
  if (!read.sample) {
    gone_ = true;
    return;
  }
  // Figures from before the previous look are no answer, unless nothing changed since. An allocator
  // that gives no figures doesn't change.
  MemorySample& sample = *read.sample;
  if (Tells(sample.allocator) && sample.allocator.time_ms + kClocksDiffer < asked_ms_ &&
      (sample.live_bytes != live_when_said_ || sample.allocator != said_)) {
    sample.allocator = {};
  } else {
    said_ = sample.allocator;
    live_when_said_ = sample.live_bytes;
  }
  asked_ms_ = sample.time_ms;
  if (!highest_ || read.sample->rss_bytes > highest_->rss_bytes) highest_ = read.sample;
  series_.Add(*read.sample);
  while (milliseconds(series_.interval_ms()) < read.cost * kMomentShare) series_.Coarsen();
}

MemoryRecord MemoryWatch::Content(bool alive) {
  if (reading_.valid() && (!alive || Done())) Collect();
  MemoryRecord record;
  record.samples = series_.samples();
  if (highest_) {
    const auto at = std::lower_bound(
        record.samples.begin(), record.samples.end(), highest_->time_ms,
        [](const MemorySample& sample, uint64_t time_ms) { return sample.time_ms < time_ms; });
    if (at == record.samples.end() || at->time_ms != highest_->time_ms) {
      record.samples.insert(at, *highest_);
    }
  }
  record.last_said = SaidBy(region_);
  return record;
}

}  // namespace memprof
