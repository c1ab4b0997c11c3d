#include "cli/supervisor/images/image_history.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "cli/basics/background_work.h"
#include "cli/basics/descriptor_reserve.h"
#include "cli/basics/proc_files.h"
#include "cli/basics/thread_time.h"
#include "core/region/region_reader.h"

namespace memprof {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

constexpr uint64_t kPauseMs = 1000;

// The second field of statm; unset if the process is gone.
std::optional<uint64_t> ResidentBytesOf(int statm_fd) {
  char text[128] = {};
  if (pread(statm_fd, text, sizeof text - 1, 0) <= 0) return std::nullopt;
  char* resident = nullptr;
  std::strtoull(text, &resident, 10);
  const uint64_t pages = std::strtoull(resident, nullptr, 10);
  if (pages == 0) return std::nullopt;
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// The sites and mappings that the moments hold; those that moments share once.
size_t SitesIn(const std::vector<RegionMoment>& moments) {
  size_t sites = 0;
  const std::vector<SiteLive>* before = nullptr;
  const std::vector<SiteLive>* mapped_before = nullptr;
  for (const RegionMoment& moment : moments) {
    if (moment.sites.get() != before) sites += moment.sites->size();
    if (moment.mappings && moment.mappings.get() != mapped_before) {
      sites += moment.mappings->size();
    }
    before = moment.sites.get();
    mapped_before = moment.mappings.get();
  }
  return sites;
}

}  // namespace

ImageHistory::ImageHistory(const RegionPlace& region, pid_t pid, steady_clock::time_point start,
                           Clock clock, uint64_t interval_scale)
    : region_(region),
      statm_(UnlessInReserve(OpenProcFile(pid, "statm"))),
      start_(start),
      clock_(clock),
      timeline_(kFirstTimelineIntervalMs * interval_scale, kMaxTimelinePoints),
      moments_(kFirstMomentsIntervalMs * interval_scale, kMaxMoments) {
  AddPoint(NowMs(), true);
}

ImageHistory::~ImageHistory() {
  if (Reading()) reading_.wait();
}

uint64_t ImageHistory::MsOf(steady_clock::time_point time) const {
  return static_cast<uint64_t>(std::chrono::floor<milliseconds>(time - start_).count());
}

void ImageHistory::Look() {
  const uint64_t now = NowMs();
  if (now < pause_until_ms_) return;
  if (now >= timeline_.NextDueMs()) AddPoint(now, true);
  if (Reading()) {
    if (!ReadingIsDone()) return;
    CollectMoment();
  }
  if (now >= moments_.NextDueMs()) StartMoment();
}

steady_clock::time_point ImageHistory::NextLook() const {
  const uint64_t timeline = timeline_.NextDueMs();
  // A moment that is being read is collected with the next due point.
  const uint64_t due = Reading() ? timeline : std::min(timeline, moments_.NextDueMs());
  return start_ + milliseconds(std::max(due, pause_until_ms_));
}

void ImageHistory::AddPoint(uint64_t now_ms, bool alive) {
  const auto state = ReadPeak(region_);
  if (!state) {
    pause_until_ms_ = now_ms + kPauseMs;
    return;
  }
  // Negative for a while if threads hold allocations back.
  const auto heap = static_cast<uint64_t>(std::max<int64_t>(state->current, 0));
  timeline_.Add({now_ms, heap, alive ? ResidentBytes() : std::optional<uint64_t>()});
}

std::optional<uint64_t> ImageHistory::ResidentBytes() const {
  return ResidentBytesOf(statm_.get());
}

void ImageHistory::StartMoment() {
  reading_ = InBackground([this]() -> MomentRead {
    const nanoseconds before = ThreadTime();
    auto moment = ReadMoment(region_, NowMs());
    return {std::move(moment), ThreadTime() - before};
  });
}

bool ImageHistory::ReadingIsDone() const {
  return reading_.wait_for(nanoseconds(0)) == std::future_status::ready;
}

void ImageHistory::CollectMoment() {
  MomentRead read = reading_.get();
  if (read.moment) {
    const auto& before = moments_.samples();
    if (!before.empty() && *before.back().sites == *read.moment->sites) {
      read.moment->sites = before.back().sites;
    }
    const auto& mappings = read.moment->mappings;
    if (!before.empty() && mappings && before.back().mappings &&
        *before.back().mappings == *mappings) {
      read.moment->mappings = before.back().mappings;
    }
    moments_.Add(std::move(*read.moment));
  } else {
    pause_until_ms_ = NowMs() + kPauseMs;
  }
  costs_[collected_++ % std::size(costs_)] = read.cost;
  const auto least = *std::min_element(std::begin(costs_), std::end(costs_)) * kMomentShare;
  while (milliseconds(moments_.interval_ms()) < least) moments_.Coarsen();
  // Two moments always stay: the region bounds their size.
  while (SitesIn(moments_.samples()) > kMaxMomentSites && moments_.samples().size() > 2) {
    moments_.Coarsen();
  }
}

void ImageHistory::ForgetResidentSince(steady_clock::time_point time) {
  timeline_.ForEach([since_ms = MsOf(time)](TimelinePoint& point) {
    if (point.time_ms >= since_ms) point.rss_bytes.reset();
  });
}

RegionHistory ImageHistory::Content(bool alive) {
  if (Reading() && (!alive || ReadingIsDone())) CollectMoment();
  AddPoint(NowMs(), alive);
  RegionHistory history;
  history.timeline = {timeline_.interval_ms(), timeline_.samples()};
  history.moments_interval_ms = moments_.interval_ms();
  history.moments = moments_.samples();
  return history;
}

}  // namespace memprof
