// speedscope's JSON: the three figures as sampled profiles of one file, weighted in bytes.
//
// Source: the schema at https://www.speedscope.app/file-format-schema.json.

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "core/printable.h"
#include "core/tree/path_to_root.h"
#include "formats/export/exporters.h"

namespace memprof {
namespace {

using Json = nlohmann::ordered_json;

// Frames with equal texts become one.
class SpeedscopeFrames {
 public:
  explicit SpeedscopeFrames(const Profile& profile) {
    for (const ProfileFrame& frame : profile.frames) {
      const auto [place, is_new] = ids_.try_emplace({frame.function, frame.file, frame.line},
                                                    static_cast<uint32_t>(ids_.size()));
      by_frame_.push_back(place->second);
      if (!is_new) continue;
      Json json = {{"name", frame.function}};
      if (!frame.file.empty()) json["file"] = frame.file;
      if (frame.line != 0) json["line"] = frame.line;
      frames_.push_back(std::move(json));
    }
  }
  uint32_t Id(uint32_t frame) const { return by_frame_[frame]; }
  const Json& frames() const { return frames_; }

 private:
  std::map<std::tuple<std::string, std::string, uint32_t>, uint32_t> ids_;
  std::vector<uint32_t> by_frame_;
  Json frames_ = Json::array();
};

Json SampledProfile(const Profile& profile, const SpeedscopeFrames& frames, const char* name,
                    Figure figure) {
  Json samples = Json::array();
  Json weights = Json::array();
  uint64_t sum = 0;
  for (const ProfileSite& site : profile.sites) {
    const uint64_t bytes = FigureOf(site, figure).bytes;
    if (bytes == 0) continue;
    std::vector<uint32_t> stack;
    for (const uint32_t node : PathToRoot(profile.nodes, site.node)) {
      stack.push_back(frames.Id(profile.nodes[node].frame));
    }
    std::reverse(stack.begin(), stack.end());
    samples.push_back(std::move(stack));
    weights.push_back(bytes);
    sum += bytes;
  }
  std::string title = name;
  if (profile.tracker.sample_bytes != 0) {
    title += " (" + SamplingText(profile.tracker.sample_bytes) + ")";
  }
  return {{"type", "sampled"},
          {"name", std::move(title)},
          {"unit", "bytes"},
          {"startValue", 0},
          {"endValue", sum},
          {"samples", std::move(samples)},
          {"weights", std::move(weights)}};
}

}  // namespace

std::string ExportSpeedscope(const Profile& profile, const ExportOptions& options) {
  const SpeedscopeFrames frames(profile);
  const Json json = {{"$schema", "https://www.speedscope.app/file-format-schema.json"},
                     {"name", profile.program.program},
                     {"exporter", "memprof"},
                     {"activeProfileIndex", static_cast<int>(options.figure)},
                     {"shared", {{"frames", frames.frames()}}},
                     {"profiles",
                      {SampledProfile(profile, frames, "live at the peak", Figure::kPeak),
                       SampledProfile(profile, frames, "leaked", Figure::kLeaked),
                       SampledProfile(profile, frames, "allocated in all", Figure::kTotal)}}};
  return WithEscapedControls(json.dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace memprof
