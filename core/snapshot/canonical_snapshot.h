// CanonicalSnapshot: a snapshot in canonical order. Two snapshots with the same content are equal
// member by member, whatever the order of their records was. Only frames without a module contain
// addresses of the run, so elsewhere address space randomisation leaves no trace.
//
// Equal modules, frames, nodes and sites become one record. Records that no site refers to are
// dropped. The rest is ordered by content, which costs about as much as reading a region. The type
// tells functions that the order is there, so that they don't make it again.
//
// Thread safety: a plain value, constant. Memory: move the snapshot in to avoid a second copy of
// the sites' contents.
#pragma once

#include <utility>

#include "core/snapshot/snapshot.h"

namespace memprof {

class CanonicalSnapshot {
 public:
  // Has the same content as `snapshot`. Pre: invariants 1 and 2 of Snapshot.
  explicit CanonicalSnapshot(Snapshot snapshot);

  const Snapshot& operator*() const { return snapshot_; }
  const Snapshot* operator->() const { return &snapshot_; }
  operator const Snapshot&() const { return snapshot_; }  // for functions that only read it

  // The content as a snapshot that may be changed.
  Snapshot Take() && { return std::move(snapshot_); }

  friend bool operator==(const CanonicalSnapshot&, const CanonicalSnapshot&) = default;

 private:
  Snapshot snapshot_;
};

inline CanonicalSnapshot Canonical(Snapshot snapshot) {
  return CanonicalSnapshot(std::move(snapshot));
}

}  // namespace memprof
