#include "core/snapshot/kept_processes.h"

#include <iterator>
#include <utility>

namespace memprof {

bool KeptProcesses::Heavier::operator()(const SnapshotSource& a, const SnapshotSource& b) const {
  if (a.peak.bytes != b.peak.bytes) return a.peak.bytes > b.peak.bytes;
  return SourceBefore(a, b);
}

void KeptProcesses::Add(const SnapshotSource& source, SnapshotProcess process) {
  switch (process.kind) {
    case SnapshotProcess::Kind::kUnknown:
      unknown_.insert(source);
      return;
    case SnapshotProcess::Kind::kSummed:
      DropFrom(source);
      return;
    case SnapshotProcess::Kind::kApart:
      break;
  }
  if (dropped_ && Heavier()(*dropped_, source)) return;
  rows_ += process.rows.size();
  kept_.emplace(source, std::move(process.rows));
  while (kept_.size() > kMostProcesses && rows_ > most_rows_) {
    DropFrom(SnapshotSource(std::prev(kept_.end())->first));
  }
}

void KeptProcesses::DropFrom(const SnapshotSource& source) {
  if (dropped_ && !Heavier()(source, *dropped_)) return;
  dropped_ = source;
  while (!kept_.empty() && !Heavier()(std::prev(kept_.end())->first, source)) {
    rows_ -= std::prev(kept_.end())->second.size();
    kept_.erase(std::prev(kept_.end()));
  }
}

std::vector<SnapshotProcess> KeptProcesses::Take(const std::vector<SnapshotSource>& sources) {
  using Kind = SnapshotProcess::Kind;
  std::vector<SnapshotProcess> processes;
  if (unknown_.size() == sources.size()) return processes;
  for (const SnapshotSource& source : sources) {
    const auto at = kept_.find(source);
    if (at != kept_.end()) {
      processes.push_back({Kind::kApart, std::move(at->second)});
    } else {
      processes.push_back({unknown_.count(source) != 0 ? Kind::kUnknown : Kind::kSummed});
    }
  }
  return processes;
}

}  // namespace memprof
