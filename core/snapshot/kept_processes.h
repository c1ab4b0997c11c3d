// KeptProcesses: which processes of a merge are kept apart, so that a merge of very many is not
// that many times as large.
//
// Processes are ordered by their peaks in bytes, then as the sources are. From the heaviest on as
// many are kept as make at most kMostProcesses, or at most kMostProcessRows rows. Processes without
// known rows don't count.
//
// Invariant: who is kept among more processes is kept among fewer. So the merge of merges keeps the
// same ones, whatever the groups.
//
// Thread safety: none. Memory: the kept rows', and the processes'.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/snapshot/snapshot.h"

namespace memprof {

inline constexpr size_t kMostProcesses = 8;
inline constexpr size_t kMostProcessRows = 16384;

class KeptProcesses {
 public:
  explicit KeptProcesses(size_t most_rows = kMostProcessRows) : most_rows_(most_rows) {}

  void Add(const SnapshotSource& source, SnapshotProcess process);

  // Theirs, in their order; empty: nothing is known of any. Pre: all that were added. The object is
  // then to be thrown away.
  std::vector<SnapshotProcess> Take(const std::vector<SnapshotSource>& sources);

 private:
  struct Heavier {
    bool operator()(const SnapshotSource& a, const SnapshotSource& b) const;
  };
  // It and all that are lighter.
  void DropFrom(const SnapshotSource& source);

  const size_t most_rows_;
  std::map<SnapshotSource, std::vector<ProcessRow>, Heavier> kept_;
  size_t rows_ = 0;                        // of kept_
  std::optional<SnapshotSource> dropped_;  // the heaviest one
  std::set<SnapshotSource, Heavier> unknown_;
};

}  // namespace memprof
