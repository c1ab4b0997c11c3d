#include "cli/live/live_session.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/snapshot/snapshot_merger.h"

namespace memprof {
namespace {

constexpr size_t kMostPoints = 1024;

SymbolizerOptions WithoutWaiting() {
  SymbolizerOptions options;
  options.download_limit = std::chrono::milliseconds(0);
  return options;
}

uint64_t SinceUnix(int64_t start_ms) {
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  return now > start_ms ? static_cast<uint64_t>(now - start_ms) : 0;
}

}  // namespace

LiveSession::LiveSession(FoundRun found)
    : source_(std::move(found)), names_(MakeSymbolizer(WithoutWaiting())) {}

void LiveSession::Look(bool wait) {
  if (ended_) return;  // the figures of the end are there
  LiveReading reading = source_.Read(pid_);
  ended_ = reading.ended;
  silent_ = reading.silent;
  look_.clear();
  uint64_t rss_bytes = 0;
  for (LiveProcess& process : reading.processes) {
    rss_bytes += process.rss_bytes;
    if (wait) names_.Resolve(process.snapshot->modules, process.snapshot->frames);
    look_.push_back(std::move(process.snapshot));
  }
  if (wait) names_.Wait();
  if (!reading.run.processes.empty()) {
    const ShownProcess& first = reading.run.processes[0];
    program_ = first.program;
    if (!ended_) running_ms_ = SinceUnix(first.start_unix_ms);
  }
  if (!ended_) rss_bytes_ = rss_bytes;
  table_.Add(std::chrono::steady_clock::now(), Named());
  uint64_t heap_bytes = 0;
  for (const LiveProfile& process : table_.processes()) heap_bytes += process.profile.leaked.bytes;
  AddPoint(heap_bytes);
}

std::vector<LiveProfile> LiveSession::Named() {
  names_found_ = names_.found();
  std::vector<LiveProfile> profiles;
  for (const CanonicalSnapshot& snapshot : look_) {
    profiles.push_back({MakeProfile(*snapshot, names_), NumberStacks(*snapshot)});
  }
  return profiles;
}

bool LiveSession::UpdateNames() {
  if (names_.found() == names_found_) return false;
  table_.Rename(Named());
  return true;
}

std::optional<CanonicalSnapshot> LiveSession::Capture() const {
  if (look_.empty()) return std::nullopt;
  SnapshotMerger merger;
  for (const CanonicalSnapshot& snapshot : look_) {
    // Processes of one run have different pids.
    (void)merger.Add(*snapshot, uint64_t{snapshot->program.pid} + 1);
  }
  return merger.Take();
}

std::optional<Profile> LiveSession::Merged() {
  auto capture = Capture();
  if (!capture) return std::nullopt;
  return MakeProfile(std::move(*capture).Take(), names_);
}

void LiveSession::AddPoint(uint64_t heap_bytes) {
  TimelinePoint point;
  point.time_ms = static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                            std::chrono::steady_clock::now() - start_)
                                            .count());
  point.heap_bytes = heap_bytes;
  if (rss_bytes_ != 0) point.rss_bytes = rss_bytes_;
  timeline_.points.push_back(point);
  // Every second one goes, so that a viewer that runs for days keeps the whole time.
  if (timeline_.points.size() <= kMostPoints) return;
  std::vector<TimelinePoint> kept;
  for (size_t i = 0; i < timeline_.points.size(); i += 2) kept.push_back(timeline_.points[i]);
  timeline_.points = std::move(kept);
}

}  // namespace memprof
