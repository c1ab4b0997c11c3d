#include "core/snapshot/moment_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/units.h"

namespace memprof {
namespace {

uint64_t Distance(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

// A moment that may be chosen for the selector.
struct Candidate {
  MomentSelector::Kind kind;
  uint32_t index;  // of the moment or the named moment
  uint64_t time_ms;
  bool inexact;
};

// If two moments are at the same distance, the earlier one wins; the end wins, too, and a moment
// wins over a named moment of its time.
Candidate Nearest(const Snapshot& snapshot, uint64_t time_ms, Candidate best) {
  const auto look = [&](MomentSelector::Kind kind, const auto& samples) {
    for (uint32_t i = 0; i < samples.size(); ++i) {
      const Candidate here = {kind, i, samples[i].time_ms, samples[i].inexact};
      const uint64_t distance = Distance(here.time_ms, time_ms);
      const uint64_t least = Distance(best.time_ms, time_ms);
      if (distance > least || (distance == least && here.time_ms >= best.time_ms)) continue;
      best = here;
    }
  };
  look(MomentSelector::Kind::kTime, snapshot.moments.at);
  look(MomentSelector::Kind::kNamed, snapshot.named.taken);
  return best;
}

Count LiveThen(const SnapshotSite& site, const Candidate& moment) {
  switch (moment.kind) {
    case MomentSelector::Kind::kTime:
      return LiveAt(site.history, moment.index);
    case MomentSelector::Kind::kNamed:
      return LiveAt(site.named, moment.index);
    default:
      return site.leaked;
  }
}

std::string NameOf(const Snapshot& snapshot, const Candidate& moment) {
  switch (moment.kind) {
    case MomentSelector::Kind::kTime:
      return FormatDuration(moment.time_ms);
    case MomentSelector::Kind::kNamed:
      return fmt::format("the snapshot '{}' ({})", snapshot.named.taken[moment.index].name,
                         FormatDuration(moment.time_ms));
    default:
      return IsUnended(snapshot.program.end_kind) ? "the time it was read" : "the end";
  }
}

std::string NoSuchName(const Snapshot& snapshot, const std::string& wanted) {
  std::string why = fmt::format("it has no snapshot '{}'", wanted);
  std::string names;
  for (const NamedMoment& named : snapshot.named.taken) {
    names += (names.empty() ? "" : ", ") + named.name;
  }
  why += names.empty() ? ", nor any other of a name" : "; there are: " + names;
  return why + "; a moment is written e.g. @90s, @1h30m, @peak or @end";
}

}  // namespace

Result<MomentSelector> ParseMoment(std::string_view text) {
  using Kind = MomentSelector::Kind;
  if (text.empty()) {
    return Fail(ErrorKind::kUsage, "'@' names no moment; write e.g. @90s, @10m, @peak or @end");
  }
  if (text == "peak") return MomentSelector{Kind::kPeak, 0, std::string(text)};
  if (text == "end") return MomentSelector{Kind::kEnd, 0, std::string(text)};
  const auto time = ParseTime(text);
  if (!time) return MomentSelector{Kind::kNamed, 0, std::string(text)};
  return MomentSelector{Kind::kTime, *time, std::string(text)};
}

Result<ChosenMoment> ShowMoment(Snapshot& snapshot, const MomentSelector& selector) {
  using Kind = MomentSelector::Kind;
  const SnapshotProgram& program = snapshot.program;
  const std::vector<NamedMoment>& named = snapshot.named.taken;
  if (selector.kind == Kind::kPeak) {
    return ChosenMoment{selector.kind, program.peak_time_ms, false, "the peak", ""};
  }
  Candidate best = {Kind::kEnd, 0, program.duration_ms, false};
  const auto it = std::find_if(named.begin(), named.end(),
                               [&](const NamedMoment& n) { return n.name == selector.text; });
  std::string note;
  if (it != named.end()) {
    best = {Kind::kNamed, static_cast<uint32_t>(it - named.begin()), it->time_ms, it->inexact};
  } else if (selector.kind == Kind::kNamed) {
    return Fail(ErrorKind::kUsage, NoSuchName(snapshot, selector.text));
  } else if (selector.kind == Kind::kTime) {
    const std::vector<Moment>& moments = snapshot.moments.at;
    if (moments.empty() && named.empty()) {
      return Fail(ErrorKind::kUsage,
                  "there are no moments in it: memprof run takes them while the program runs, and "
                  "this one was over before the first, or it is a region file; @peak and @end are "
                  "there");
    }
    best = Nearest(snapshot, selector.time_ms, best);
    note = fmt::format(", the nearest of {} moments", moments.size() + named.size() + 1);
    if (!moments.empty()) {
      note += fmt::format(", one every {}", FormatDuration(snapshot.moments.interval_ms));
    }
  }

  for (SnapshotSite& site : snapshot.sites) site.peak = LiveThen(site, best);
  snapshot.program.peak_time_ms = best.time_ms;
  snapshot.program.peak_time_resolution_ms = 1;
  SnapshotTracker& tracker = snapshot.tracker;
  tracker.counter_peak_bytes = SumPeak(snapshot).bytes;
  tracker.peak_bound_bytes = 0;
  tracker.unattributed_bytes = 0;
  tracker.inexact_read = tracker.inexact_read || best.inexact;
  return ChosenMoment{best.kind, best.time_ms, best.inexact, NameOf(snapshot, best), note};
}

}  // namespace memprof
