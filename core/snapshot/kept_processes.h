// KeptProcesses: chooses the processes of a merge whose figures are kept apart. A merge of very
// many processes would otherwise be that many times as large.
//
// Processes are ordered by their peaks in bytes, then as the sources are. Starting with the
// heaviest, processes are kept as long as they are at most kMostProcesses, or their rows at most
// kMostProcessRows. Processes without known rows don't count.
//
// Invariant: a process that is kept among more processes is also kept among fewer. So a merge of
// merges keeps the same ones, however they are grouped.
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

  // The processes of `sources`, in their order; empty if nothing is known of any. Pre: `sources`
  // are all that were added. The object must not be used afterwards.
  std::vector<SnapshotProcess> Take(const std::vector<SnapshotSource>& sources);

 private:
  struct Heavier {
    bool operator()(const SnapshotSource& a, const SnapshotSource& b) const;
  };
  // Drops this source and all lighter ones.
  void DropFrom(const SnapshotSource& source);

  const size_t most_rows_;
  std::map<SnapshotSource, std::vector<ProcessRow>, Heavier> kept_;
  size_t rows_ = 0;                        // of kept_
  std::optional<SnapshotSource> dropped_;  // the heaviest one
  std::set<SnapshotSource, Heavier> unknown_;
};

}  // namespace memprof
