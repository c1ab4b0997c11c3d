#include "cli/supervisor/tree/children_areas.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cli/basics/message.h"

namespace memprof {
namespace {

constexpr size_t kMostAreas = 64;  // one for each user

}  // namespace

Result<ChildrenAreas> ChildrenAreas::Make() {
  auto area = ChildrenAreaFile::Make();
  if (!area) return tl::unexpected<Error>(area.error());
  ChildrenAreas areas;
  areas.areas_.emplace(geteuid(), std::move(*area));
  return areas;
}

ChildrenAreaFile* ChildrenAreas::Of(uid_t user) {
  const auto known = areas_.find(user);
  if (known != areas_.end()) return &known->second;
  if (areas_.size() >= kMostAreas) return nullptr;
  auto area = ChildrenAreaFile::Make();
  if (!area) {
    Say("warning: children of processes of user {} are not profiled: {}", user,
        area.error().message);
    return nullptr;
  }
  return &areas_.emplace(user, std::move(*area)).first->second;
}

bool ChildrenAreas::IsOf(uid_t user, const ChildrenAreaFile& area) const {
  const auto known = areas_.find(user);
  return known != areas_.end() && &known->second == &area;
}

bool ChildrenAreas::IsMappedBy(pid_t pid) const {
  return std::any_of(areas_.begin(), areas_.end(),
                     [pid](const auto& area) { return area.second.IsMappedBy(pid); });
}

std::vector<AreaClaim> ChildrenAreas::NewClaims() {
  std::vector<AreaClaim> claims;
  for (auto& [user, area] : areas_) {
    for (const auto& claim : area.NewClaims()) claims.push_back({&area, claim});
  }
  std::sort(claims.begin(), claims.end(),
            [](const auto& a, const auto& b) { return a.claim.start < b.claim.start; });
  return claims;
}

uint64_t ChildrenAreas::refused() const {
  uint64_t refused = 0;
  for (const auto& [user, area] : areas_) refused += area.refused();
  return refused;
}

}  // namespace memprof
