// The rows of the reports on a profile's inspection: figures by place, and the paths by which places are held.
//
// Invariant: the rows' figures sum to the inspection's totals, and the paths' own to what is reachable.
//
// Thread safety: pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/profile/location.h"
#include "core/profile/profile.h"

namespace memprof {

struct InspectionRow {
  PlaceKey place;
  std::string kind;  // what most of its live bytes are; empty: it isn't known
  HeldFigures figures;
  uint64_t retained_bytes = 0;
  uint64_t alone_bytes = 0;  // pages of one of its stacks alone
  uint64_t free_bytes = 0;   // its stacks' shares of what is free on their pages
};

// One row a place. Blocks of unknown sites have the place "[unknown]", inherited ones "[inherited]".
std::vector<InspectionRow> InspectionRows(const Profile& profile);

// A path's parts are the root's name, then what the blocks on it are, as far as it is known, and where
// they were allocated: "std::map<int, Session> node, Session::Add session.cc:40". The last one is
// that of `own`.
struct PathRow {
  std::vector<std::string> path;
  Count own;
};

// The heaviest first. Paths that look alike by their places are one.
std::vector<PathRow> PathRows(const Profile& profile);

// What an inspection says of one place.
struct PlaceInspection {
  HeldFigures figures;
  std::vector<std::string>
      held_by;  // the path that holds most of its bytes, without the place itself
};
// Empty without an inspection.
std::map<PlaceKey, PlaceInspection> InspectionByPlace(const Profile& profile);

// What a row's blocks are: their type, as they say themselves (C++ types with virtual functions), or
// that of the container of the standard library that allocated them. Empty: it isn't known.
std::string KindOf(const Profile& profile, const InspectedRow& row);

// "g_cache (service, .bss) → Insert cache.cc:20".
std::string PathText(const std::vector<std::string>& path);

// "RememberUser leaky.cc:21".
std::string PlaceText(const PlaceKey& place);

// "src/leaky.cc:21"; the module where no line is known.
std::string WhereText(const PlaceKey& place);

}  // namespace memprof
