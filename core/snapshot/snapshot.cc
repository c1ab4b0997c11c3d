#include "core/snapshot/snapshot.h"

#include <tuple>

#include "core/figure.h"
#include "core/protocol/region_layout.h"

namespace memprof {
namespace {

Count Sum(const Snapshot& snapshot, Count SnapshotSite::*figure) {
  Count sum;
  for (const SnapshotSite& site : snapshot.sites) sum += site.*figure;
  return sum;
}

bool HasOtherLeaks(const SnapshotSite& site) {
  return site.leaked != Count() && !site.of_running_threads;
}

// Sites that become one have known sizes only if all have them. Otherwise the known sizes become
// the program's. Call it before their totals are added.
void MergeSizes(const SnapshotSite& site, SnapshotSite& merged, SizeHistogram& other) {
  const bool known = !site.sizes.empty() || site.total == Count();
  const bool merged_known = !merged.sizes.empty() || merged.total == Count();
  if (known && merged_known) {
    AddSizes(merged.sizes, site.sizes);
    return;
  }
  AddSizes(other, site.sizes);
  AddSizes(other, merged.sizes);
  merged.sizes.clear();
}

}  // namespace

const char* NameOf(EndKind kind) {
  switch (kind) {
    case EndKind::kRunning:
      return "running";
    case EndKind::kExit:
      return "exit";
    case EndKind::kSignal:
      return "signal";
    case EndKind::kExec:
      return "exec";
    case EndKind::kEnded:
      return "ended";
    case EndKind::kCut:
      return "cut";
  }
  return "running";
}

std::string WhyStopped(uint32_t stop_reason) {
  switch (static_cast<StopReason>(stop_reason)) {
    case StopReason::kNoMemory:
      return "the system gave it no memory for its tables";
    case StopReason::kBadRegion:
      return "it did not understand its region; are memprof and its library of one version?";
    case StopReason::kNoFindObject:
      return "the C library is too old: glibc 2.35 or newer is needed";
    case StopReason::kNone:
      break;
  }
  return "for a reason that this memprof does not know";
}

bool SourceBefore(const SnapshotSource& a, const SnapshotSource& b) {
  const auto key = [](const SnapshotSource& s) {
    return std::tie(s.program.start_unix_ms, s.program.pid, s.program.program, s.program.run_id);
  };
  return key(a) < key(b);
}

Count SumPeak(const Snapshot& snapshot) { return Sum(snapshot, &SnapshotSite::peak); }
Count SumLeaked(const Snapshot& snapshot) { return Sum(snapshot, &SnapshotSite::leaked); }
Count SumTotal(const Snapshot& snapshot) { return Sum(snapshot, &SnapshotSite::total); }
Count SumTemporary(const Snapshot& snapshot) { return Sum(snapshot, &SnapshotSite::temporary); }

Count SumOfRunningThreads(const Snapshot& snapshot) {
  Count sum;
  for (const SnapshotSite& site : snapshot.sites) {
    if (site.of_running_threads) sum += site.leaked;
  }
  return sum;
}

SizeHistogram SumSizes(const Snapshot& snapshot) {
  SizeHistogram sizes = snapshot.other_sizes;
  for (const SnapshotSite& site : snapshot.sites) AddSizes(sizes, site.sizes);
  LimitSizes(sizes, SumTotal(snapshot));
  return sizes;
}

void AddSite(const SnapshotSite& site, SnapshotSite& merged, SizeHistogram& other_sizes) {
  MergeSizes(site, merged, other_sizes);
  const bool has_other_leaks = HasOtherLeaks(site) || HasOtherLeaks(merged);
  AddFigures(merged, site);
  merged.of_running_threads = merged.leaked != Count() && !has_other_leaks;
  merged.history = merged.history.empty() ? site.history : SumOf(merged.history, site.history);
  merged.named = merged.named.empty() ? site.named : SumOf(merged.named, site.named);
}

}  // namespace memprof
