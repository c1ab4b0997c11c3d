// ProcessRows: the figures of each process of a merge, site by site. A process of a merge is one of
// its sources. The processes that are kept apart (KeptProcesses) have rows for the merge's sites.
// The rest of a site's figures belongs to the other processes together.
//
// Invariant: the rows' figures of a site sum to no more than the site's (FitSites).
//
// Thread safety: pure.
#pragma once

#include <cstdint>
#include <vector>

#include "core/count.h"

namespace memprof {

struct SnapshotSite;

// The figures of one process at one site.
struct ProcessRow {
  uint32_t site = 0;
  Count peak;  // when its own heap was highest
  Count leaked;
  Count total;
  Count temporary;  // of total
  friend bool operator==(const ProcessRow&, const ProcessRow&) = default;
};

struct SnapshotProcess {
  enum class Kind : uint8_t {
    kUnknown,  // it came with a merge that doesn't keep figures by process
    kSummed,   // its figures are among those of the others
    kApart,    // it has its rows
  };
  Kind kind = Kind::kUnknown;
  std::vector<ProcessRow> rows = {};  // those with a figure, ascending by site
  friend bool operator==(const SnapshotProcess&, const SnapshotProcess&) = default;
};

// The only process of a snapshot that is not a merge.
SnapshotProcess ProcessOf(const std::vector<SnapshotSite>& sites);

// Renumbers the rows' sites by `moved`. Rows that then have the same site are summed.
void MoveRows(std::vector<ProcessRow>& rows, const std::vector<uint32_t>& moved);

bool FitSites(const std::vector<SnapshotProcess>& processes,
              const std::vector<SnapshotSite>& sites);

}  // namespace memprof
