#include "cli/live/live_session.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "cli/symbols/report_symbolizer.h"

namespace memprof {
namespace {

constexpr size_t kMostPoints = 1024;

SymbolizerOptions WithoutWaiting() {
  SymbolizerOptions options;
  options.download_limit = std::chrono::milliseconds(0);
  return options;
}

SymbolOptions WithoutBinaries() {
  SymbolOptions options;
  options.no_binaries = true;
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
    : served_(found.served.has_value()),
      source_(std::move(found)),
      names_(MakeSymbolizer(WithoutWaiting())) {}

void LiveSession::Look(bool wait) {
  if (ended_) return;  // the figures of the end are there
  LiveReading reading = source_.Read(pid_);
  ended_ = reading.ended;
  trouble_ = reading.trouble;
  std::vector<std::vector<uint64_t>> stacks;
  uint64_t rss_bytes = 0;
  for (LiveProcess& process : reading.processes) {
    rss_bytes += process.rss_bytes;
    stacks.push_back(NumberStacks(*process.snapshot));
    if (!process.symbols.empty()) continue;
    if (wait) names_.Resolve(process.snapshot->modules, process.snapshot->frames);
  }
  if (wait) names_.Wait();
  std::vector<LiveProfile> profiles;
  for (size_t i = 0; i < reading.processes.size(); ++i) {
    LiveProcess& process = reading.processes[i];
    // Binaries of another machine aren't here.
    ReportSymbolizer stored(process.symbols, WithoutBinaries());
    Symbolizer& names =
        process.symbols.empty() && !served_ ? static_cast<Symbolizer&>(names_) : stored;
    profiles.push_back(
        {MakeProfile(std::move(process.snapshot).Take(), names), std::move(stacks[i])});
  }
  if (!reading.run.processes.empty()) {
    const ShownProcess& first = reading.run.processes[0];
    program_ = first.program;
    if (!ended_) running_ms_ = SinceUnix(first.start_unix_ms);
  }
  if (!ended_) rss_bytes_ = rss_bytes;
  table_.Add(std::chrono::steady_clock::now(), std::move(profiles));
  uint64_t heap_bytes = 0;
  for (const LiveProfile& process : table_.processes()) heap_bytes += process.profile.leaked.bytes;
  AddPoint(heap_bytes);
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
