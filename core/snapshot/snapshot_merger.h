// SnapshotMerger: the sum of many snapshots of different processes, runs and machines.
//
//   places     modules with the same build-id are the same, whatever their paths (the first in
//              order is shown); those without one are compared by path. Frames are compared by
//              module and offset, sites by stack, thread name, kind and sampled size class.
//   figures    the sums. Every source had its peak at a time of its own: the sum of the peaks is an
//              upper bound.
//   history    each source from its own start on (history_alignment.h); named moments are left
//              out and counted.
//   sources    a set, so that nothing is counted twice.
//   processes  the heaviest ones' own figures at each site (KeptProcesses).
//
// Invariant: the result depends only on the set of sources, not on their order or on earlier
// merges: merging is associative and commutative to the byte. A single source comes out as it went
// in, unless its history is too large. If the histories have more changes than a capture may hold,
// Take keeps fewer moments. If even one moment has too many changes, Take drops all histories, and
// every source's has_moments is false.
//
// Thread safety: none. Memory: what the result needs. Failure: Add returns kUsage and adds
// nothing if the source is there already, if estimates would be summed with exact figures, or if
// the estimates have another distance between samples.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/result.h"
#include "core/snapshot/canonical_snapshot.h"
#include "core/snapshot/kept_processes.h"
#include "core/snapshot/snapshot.h"
#include "core/tree/interned_tree.h"

namespace memprof {

// The program that the sources share, as far as one can be named. Pre: there is a source.
SnapshotProgram ProgramOf(const std::vector<SnapshotSource>& sources);

// Modules with equal keys are the same.
std::string MergeKey(const SnapshotModule& module);

class SnapshotMerger {
 public:
  explicit SnapshotMerger(size_t most_changes = kMaxLiveChanges,
                          size_t most_process_rows = kMostProcessRows);

  // `run_id` is for a snapshot without one of its own; not 0.
  Result<void> Add(Snapshot snapshot, uint64_t run_id);

  // Adds what the merge as a whole left unseen, beside what its sources say. Pre: something was
  // added.
  void AddUnseen(const std::vector<Unseen>& unseen);

  // The sum. Pre: something was added. The merger must not be used afterwards.
  CanonicalSnapshot Take();

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
                     const std::vector<uint32_t>& names, const std::vector<uint32_t>& moments);
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
  std::optional<Snapshot> first_;  // inserted when a second one comes
  bool placed_ = false;            // something was inserted
  Snapshot merged_;
  std::set<SnapshotSource, Before> sources_;
  KeptProcesses processes_;
  std::unordered_map<std::string, uint32_t> modules_;
  std::unordered_map<std::string, uint32_t> names_;
  std::unordered_map<SnapshotFrame, uint32_t, Hash> frames_;
  std::map<SnapshotPythonFunction, uint32_t> python_;
  InternedTree<SnapshotNode> nodes_;  // merged_ takes them at the end
  std::unordered_map<SiteKey, uint32_t, Hash> sites_;
};

}  // namespace memprof
