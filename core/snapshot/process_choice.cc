#include "core/snapshot/process_choice.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/base_name.h"
#include "core/figure.h"
#include "core/saturated_sum.h"
#include "core/snapshot/snapshot_merger.h"

namespace memprof {
namespace {

bool IsFor(const std::string& pattern, const SnapshotProgram& program) {
  if (pattern == std::to_string(program.pid)) return true;
  const auto matches = [&](const std::string& name) {
    return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
  };
  if (matches(program.program)) return true;
  if (program.command.empty()) return false;
  const std::string& called = program.command[0];
  return matches(std::string(BaseName(called)));
}

std::string CountOf(size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "es");
}

// Replaces the sites' figures by the sums of the rows of these processes.
void TakeRows(Snapshot& snapshot, const std::vector<SnapshotProcess>& processes) {
  for (SnapshotSite& site : snapshot.sites) {
    site.peak = site.leaked = site.total = site.temporary = {};
  }
  for (const SnapshotProcess& process : processes) {
    for (const ProcessRow& row : process.rows) AddFigures(snapshot.sites[row.site], row);
  }
  for (SnapshotSite& site : snapshot.sites) {
    site.of_running_threads = site.of_running_threads && site.leaked != Count();
  }
}

}  // namespace

bool ProcessSelector::Takes(const SnapshotProgram& program) const {
  return patterns.empty() ||
         std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return IsFor(pattern, program); });
}

ChosenProcesses& ChosenProcesses::operator+=(const ChosenProcesses& more) {
  patterns = more.patterns;
  shown += more.shown;
  all += more.all;
  without_rows += more.without_rows;
  unknown += more.unknown;
  without_rows_peak += more.without_rows_peak;
  figures_only = figures_only || more.figures_only;
  return *this;
}

std::string WhyNoneIsApart(const ChosenProcesses& chosen) {
  if (chosen.unknown == chosen.without_rows) {
    return chosen.patterns +
           ": it isn't known whose the merge's figures are: an older memprof made it, or that part "
           "is lost; merge the captures again";
  }
  return fmt::format(
      "{}: {} of it, but in this merge their figures are summed with others': only the heaviest "
      "processes are kept apart; ask their own captures",
      chosen.patterns, CountOf(chosen.without_rows, "process"));
}

void LeaveFiguresOnly(Snapshot& snapshot) {
  for (SnapshotSite& site : snapshot.sites) {
    site.sizes.clear();
    site.history.clear();
    site.named.clear();
  }
  snapshot.tracker.bytes = 0;
  snapshot.tracker.counter_peak_bytes = SumPeak(snapshot).bytes;
  snapshot.other_sizes.clear();
  snapshot.timeline = {};
  snapshot.moments = {};
  snapshot.named = {};
  snapshot.mappings = {};
  snapshot.memory = {};
  snapshot.inspection = {};
  for (SnapshotSource& source : snapshot.sources) {
    source.has_timeline = source.has_moments = false;
  }
}

ChosenProcesses ShowProcesses(Snapshot& snapshot, const ProcessSelector& selector) {
  ChosenProcesses chosen;
  chosen.patterns = fmt::format("{}", fmt::join(selector.patterns, ", "));
  if (snapshot.sources.empty()) {
    chosen.all = 1;
    chosen.shown = selector.Takes(snapshot.program) ? 1 : 0;
    return chosen;
  }
  chosen.all = snapshot.sources.size();
  size_t asked = 0;
  std::vector<SnapshotSource> sources;
  std::vector<SnapshotProcess> processes;
  for (size_t i = 0; i < snapshot.sources.size(); ++i) {
    const SnapshotSource& source = snapshot.sources[i];
    if (!selector.Takes(source.program)) continue;
    ++asked;
    const auto kind =
        snapshot.processes.empty() ? SnapshotProcess::Kind::kUnknown : snapshot.processes[i].kind;
    if (kind == SnapshotProcess::Kind::kApart) {
      sources.push_back(source);
      processes.push_back(snapshot.processes[i]);
    } else {
      ++chosen.without_rows;
      if (kind == SnapshotProcess::Kind::kUnknown) ++chosen.unknown;
      Count& peak = chosen.without_rows_peak;
      peak = {SaturatedSum(peak.bytes, source.peak.bytes),
              SaturatedSum(peak.allocations, source.peak.allocations)};
    }
  }
  if (asked == chosen.all) {
    chosen.shown = chosen.all;
    chosen.without_rows = chosen.unknown = 0;
    chosen.without_rows_peak = {};
    return chosen;
  }
  chosen.shown = sources.size();
  if (sources.empty()) return chosen;

  chosen.figures_only = true;
  TakeRows(snapshot, processes);
  snapshot.program = sources.size() == 1 ? sources[0].program : ProgramOf(sources);
  if (sources.size() == 1) {
    sources.clear();
    processes.clear();
  }
  snapshot.sources = std::move(sources);
  snapshot.processes = std::move(processes);
  LeaveFiguresOnly(snapshot);
  return chosen;
}

std::vector<SnapshotProgram> ProcessesOf(const Snapshot& snapshot) {
  std::vector<SnapshotProgram> processes;
  for (const SnapshotSource& source : snapshot.sources) processes.push_back(source.program);
  if (processes.empty()) processes.push_back(snapshot.program);
  return processes;
}

std::string TextOfProcesses(const std::vector<SnapshotProgram>& processes) {
  constexpr size_t kMostNames = 8;
  constexpr size_t kMostPids = 8;
  std::map<std::string, std::vector<uint32_t>> by_name;
  for (const SnapshotProgram& program : processes) by_name[program.program].push_back(program.pid);
  std::string text;
  size_t names = 0;
  for (const auto& [name, pids] : by_name) {
    if (++names > kMostNames) break;
    const size_t shown = std::min(pids.size(), kMostPids);
    const auto end = pids.begin() + static_cast<std::ptrdiff_t>(shown);
    text +=
        fmt::format("{}{} ({}", text.empty() ? "" : ", ", name, fmt::join(pids.begin(), end, " "));
    if (shown < pids.size()) text += fmt::format(" and {} more", pids.size() - shown);
    text += ")";
  }
  if (by_name.size() > kMostNames) {
    text += fmt::format(" and {} more programs", by_name.size() - kMostNames);
  }
  return text;
}

}  // namespace memprof
