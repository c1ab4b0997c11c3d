#include "core/profile/location.h"

#include <string_view>

#include "core/frame_kind.h"

namespace memprof {

uint32_t LocationOf(const Profile& profile, const ProfileSite& site) {
  for (uint32_t node = site.node; node != 0; node = profile.nodes[node].parent) {
    const ProfileFrame& frame = profile.frames[profile.nodes[node].frame];
    const std::string_view module =
        frame.module != kNoModule ? std::string_view(profile.modules[frame.module].path) : "";
    if (ClassifyFrame(frame.function, module) == FrameKind::kProgram) return node;
  }
  return site.node;
}

}  // namespace memprof
