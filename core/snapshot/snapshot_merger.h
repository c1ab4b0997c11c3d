// SnapshotMerger: the sum of many profiles, of other processes, runs and machines.
//
//   places     modules are the same by build-id, whatever their paths (the first in order is
//              shown); without one by path. Frames by module and offset, sites by stack, thread
//              name, kind and class of sampled sizes.
//   figures    the sums. Every source had its peak at a time of its own: theirs is an upper bound.
//   history    each source from its own start on (history_alignment.h); named snapshots are left
//              out and counted.
//   sources    a set, so that nothing is counted twice.
//   processes  the heaviest ones' own figures at each site (KeptProcesses).
//
// Invariant: the result depends on the set of sources only, not on their order or on what was
// merged before: associative and commutative to the byte. A single source comes out as it went in.
// The one exception: histories with more changes than a capture may have are coarsened in Take, and
// where a single moment has too many left out: no source is then in the moments.
//
// Thread safety: none. Memory: what the result needs. Failure: Add refuses what must not be summed
// and takes nothing of it: a source that is there already, estimates with exact figures, or
// estimates of another distance (kUsage).
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/result.h"
#include "core/snapshot/kept_processes.h"
#include "core/snapshot/node_index.h"
#include "core/snapshot/snapshot.h"

namespace memprof {

// What ran, as far as it can be said of all at once. Pre: there are some.
SnapshotProgram ProgramOf(const std::vector<SnapshotSource>& sources);

// Modules with equal ones are the same.
std::string MergeKey(const SnapshotModule& module);

class SnapshotMerger {
 public:
  explicit SnapshotMerger(size_t most_changes = kMaxLiveChanges,
                          size_t most_process_rows = kMostProcessRows);

  // `run_id` is for a profile that has none of its own; not 0.
  Result<void> Add(Snapshot snapshot, uint64_t run_id);

  // The sum, canonical. Pre: something was added. The merger is then to be thrown away.
  Snapshot Take();

  size_t sources() const { return sources_.size(); }

 private:
  struct SiteKey {
    uint32_t node, thread_name, size_class;
    AllocatorKind kind;
    friend bool operator==(const SiteKey&, const SiteKey&) = default;
  };
  struct Hash {
    size_t operator()(const SiteKey& key) const;
    size_t operator()(const SnapshotFrame& frame) const;
  };
  struct Before {
    bool operator()(const SnapshotSource& a, const SnapshotSource& b) const {
      return SourceBefore(a, b);
    }
  };

  void Place(Snapshot snapshot);
  std::vector<uint32_t> PlaceFrames(const Snapshot& snapshot);
  void PlaceTracker(const SnapshotTracker& tracker);
  void PlaceMappings(SnapshotMappings& mappings, const std::vector<uint32_t>& nodes,
                     const std::vector<uint32_t>& names);
  std::vector<uint32_t> PlaceSites(std::vector<SnapshotSite> sites,
                                   const std::vector<uint32_t>& nodes,
                                   const std::vector<uint32_t>& names,
                                   const std::vector<uint32_t>& moments);
  void PlaceProcesses(const std::vector<SnapshotSource>& sources,
                      std::vector<SnapshotProcess> processes, const std::vector<uint32_t>& sites);
  std::vector<uint32_t> PlaceNodes(const Snapshot& snapshot, const std::vector<uint32_t>& frames);
  std::vector<uint32_t> PlaceHistory(const Snapshot& snapshot);
  void CoarsenMoments(uint64_t interval_ms);
  void DropMoments();

  const size_t most_changes_;      // of live figures
  std::optional<Snapshot> first_;  // placed when a second one comes
  bool placed_ = false;            // something is
  Snapshot merged_;
  std::set<SnapshotSource, Before> sources_;
  KeptProcesses processes_;
  std::unordered_map<std::string, uint32_t> modules_;
  std::unordered_map<std::string, uint32_t> names_;
  std::unordered_map<SnapshotFrame, uint32_t, Hash> frames_;
  NodeIndex nodes_;
  std::unordered_map<SiteKey, uint32_t, Hash> sites_;
};

}  // namespace memprof
