#include "core/profile/location.h"

#include <map>
#include <string_view>
#include <utility>

#include "core/base_name.h"
#include "core/frame_kind.h"
#include "core/tree/path_to_root.h"

namespace memprof {

uint32_t LocationOf(const Profile& profile, const ProfileSite& site) {
  uint32_t innermost = 0;  // of the program or a library; 0: there is none yet
  for (const uint32_t node : PathToRoot(profile.nodes, site.node)) {
    const ProfileFrame& frame = profile.frames[profile.nodes[node].frame];
    if (innermost != 0 && !frame.python) continue;
    const std::string_view module =
        frame.module != kNoModule ? std::string_view(profile.modules[frame.module].path) : "";
    if (ClassifyFrame(frame.function, module) != FrameKind::kProgram) continue;
    if (frame.python || BaseName(module) == profile.program.program) return node;
    innermost = node;
  }
  return innermost != 0 ? innermost : site.node;
}

PlaceKey PlaceKeyOf(const Profile& profile, uint32_t node) {
  if (node == 0) return {"[no stack]", "", 0, ""};
  const ProfileFrame& frame = profile.frames[profile.nodes[node].frame];
  const bool has_module = frame.module < profile.modules.size();
  return {frame.function, frame.file, frame.line,
          has_module ? profile.modules[frame.module].path : std::string()};
}

std::vector<std::vector<uint32_t>> PlacesOf(const Profile& profile,
                                            const std::vector<ProfileSite>& all,
                                            std::span<const uint32_t> sites) {
  std::map<PlaceKey, std::vector<uint32_t>> places;
  for (const uint32_t site : sites) {
    places[PlaceKeyOf(profile, LocationOf(profile, all[site]))].push_back(site);
  }
  std::vector<std::vector<uint32_t>> by_key;
  for (auto& [key, of_place] : places) by_key.push_back(std::move(of_place));
  return by_key;
}

}  // namespace memprof
