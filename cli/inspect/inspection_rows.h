// The rows of the reports on a profile's inspection: figures by place, and the paths by which places are held.
//
// Invariant: the rows' figures sum to the inspection's totals, and the paths' own to what is reachable.
//
// Thread safety: pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/profile/location.h"
#include "core/profile/profile.h"

namespace memprof {

struct InspectionRow {
  PlaceKey place;
  HeldFigures figures;
  uint64_t retained_bytes = 0;
};

// One row a place. Blocks of unknown sites have the place "[unknown]", inherited ones "[inherited]".
std::vector<InspectionRow> InspectionRows(const Profile& profile);

struct PathRow {
  std::vector<std::string> path;  // the root's name, then places, the last one the holder of `own`
  Count own;
};

// The heaviest first. Paths that look alike by their places are one.
std::vector<PathRow> PathRows(const Profile& profile);

// "RememberUser leaky.cc:21".
std::string PlaceText(const PlaceKey& place);

}  // namespace memprof
