#include "core/moment_choice.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <utility>

#include "core/units.h"

namespace memprof {
namespace {

constexpr size_t kMostDigits = 9;

struct TimeUnit {
  std::string_view name;
  double milliseconds;
};
constexpr TimeUnit kTimeUnits[] = {{"ms", 1},     {"s", 1e3},    {"m", 60e3},
                                   {"min", 60e3}, {"h", 3600e3}, {"d", 86400e3}};

// What stands before the first character that isn't of `set`; taken off the text.
std::string_view Take(std::string_view& text, std::string_view set) {
  const std::string_view taken = text.substr(0, text.find_first_not_of(set));
  text.remove_prefix(taken.size());
  return taken;
}

// One "1.5h" or "30m"; below 0: it is none.
double TakeTime(std::string_view& text) {
  const std::string number(Take(text, "0123456789."));
  const std::string_view unit = Take(text, "abcdefghijklmnopqrstuvwxyz");
  const bool is_number = !number.empty() && number.size() <= kMostDigits && number[0] != '.' &&
                         number.back() != '.' && number.find('.') == number.rfind('.');
  for (const TimeUnit& known : kTimeUnits) {
    if (is_number && unit == known.name) {
      return std::strtod(number.c_str(), nullptr) * known.milliseconds;
    }
  }
  return -1;
}

uint64_t Distance(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

}  // namespace

Result<MomentSelector> ParseMoment(std::string_view text) {
  if (text == "peak") return MomentSelector{MomentSelector::Kind::kPeak, 0};
  if (text == "end") return MomentSelector{MomentSelector::Kind::kEnd, 0};
  double sum = 0;
  std::string_view rest = text;
  bool fine = !rest.empty();
  while (fine && !rest.empty()) {
    const double time = TakeTime(rest);
    fine = time >= 0;
    sum += time;
  }
  if (!fine) {
    return Fail(
        ErrorKind::kUsage,
        fmt::format("'@{}' names no moment; write e.g. @90s, @10m, @1h30m, @peak or @end", text));
  }
  return MomentSelector{MomentSelector::Kind::kTime, static_cast<uint64_t>(std::llround(sum))};
}

Result<ChosenMoment> ShowMoment(Snapshot& snapshot, const MomentSelector& selector) {
  const SnapshotProgram& program = snapshot.program;
  if (selector.kind == MomentSelector::Kind::kPeak) {
    return ChosenMoment{selector.kind, program.peak_time_ms, false, "the peak", ""};
  }
  ChosenMoment chosen = {MomentSelector::Kind::kEnd, program.duration_ms, false,
                         program.end_kind == EndKind::kRunning ? "the time it was read" : "the end",
                         ""};
  uint32_t index = 0;
  if (selector.kind == MomentSelector::Kind::kTime) {
    const std::vector<Moment>& moments = snapshot.moments.at;
    if (moments.empty()) {
      return Fail(ErrorKind::kUsage,
                  "there are no moments in it: memprof run takes them while the program runs, and "
                  "this one was over before the first, or it is a region file; @peak and @end are "
                  "there");
    }
    for (uint32_t i = 0; i < moments.size(); ++i) {
      const uint64_t best = Distance(chosen.time_ms, selector.time_ms);
      const uint64_t here = Distance(moments[i].time_ms, selector.time_ms);
      if (here > best || (here == best && chosen.kind == MomentSelector::Kind::kTime)) continue;
      index = i;
      chosen = {MomentSelector::Kind::kTime, moments[i].time_ms, moments[i].inexact,
                FormatDuration(moments[i].time_ms), ""};
    }
    chosen.note = fmt::format(", the nearest of {} moments, one every {}", moments.size() + 1,
                              FormatDuration(snapshot.moments.interval_ms));
  }

  for (SnapshotSite& site : snapshot.sites) {
    site.peak =
        chosen.kind == MomentSelector::Kind::kEnd ? site.leaked : LiveAt(site.history, index);
  }
  snapshot.program.peak_time_ms = chosen.time_ms;
  snapshot.program.peak_time_resolution_ms = 1;
  SnapshotTracker& tracker = snapshot.tracker;
  tracker.counter_peak_bytes = SumPeak(snapshot).bytes;
  tracker.peak_bound_bytes = 0;
  tracker.unattributed_bytes = 0;
  tracker.inexact_read = tracker.inexact_read || chosen.inexact;
  return chosen;
}

}  // namespace memprof
