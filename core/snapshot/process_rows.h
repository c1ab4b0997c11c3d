// ProcessRows: whose the figures of a merge are, site by site. A process of a merge is one of its
// sources. Those that are kept apart (KeptProcesses) have what each had at the merge's sites; the
// rest of a site's figures is that of the others together.
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

// What one process has at one site.
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
    kUnknown,  // it came with a merge that doesn't know whose its figures are
    kSummed,   // its figures are among those of the others
    kApart,    // it has its rows
  };
  Kind kind = Kind::kUnknown;
  std::vector<ProcessRow> rows = {};  // with a figure, ascending by site
  friend bool operator==(const SnapshotProcess&, const SnapshotProcess&) = default;
};

// The only process of a profile that is no merge.
SnapshotProcess ProcessOf(const std::vector<SnapshotSite>& sites);

// The rows' sites become others, `moved` by their index; rows that are then of one are one.
void MoveRows(std::vector<ProcessRow>& rows, const std::vector<uint32_t>& moved);

bool FitSites(const std::vector<SnapshotProcess>& processes,
              const std::vector<SnapshotSite>& sites);

}  // namespace memprof
