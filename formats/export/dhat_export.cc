// DHAT's JSON, for valgrind's dh_view.html. A "program point" is a stack, with what it allocated in
// all, at the peak ("t-gmax") and at the end ("t-end").
//
// Lifetimes, which memprof doesn't count, are left out; the viewer shows them as NaN. A place's own
// maximum is not known either: it is given as the larger of its figures at the peak and at the end,
// and the mode says so.
//
// Source: buildTree of dh_view.js of valgrind 3.19, file version 2. It refuses equal stacks.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/printable.h"
#include "core/tree/path_to_root.h"
#include "formats/export/exporters.h"

namespace memprof {
namespace {

using Json = nlohmann::ordered_json;

std::string DhatFrame(const Profile& profile, const ProfileFrame& frame) {
  const bool has_module = frame.module < profile.modules.size();
  if (!has_module && frame.file.empty()) return frame.function;
  std::string where = has_module ? "in " + profile.modules[frame.module].path : "";
  if (!frame.file.empty()) {
    where = frame.line != 0 ? fmt::format("{}:{}", frame.file, frame.line) : frame.file;
  }
  return fmt::format("0x{:X}: {} ({})", frame.offset, frame.function, where);
}

class DhatFrames {
 public:
  // The viewer expects "[root]" as entry 0.
  explicit DhatFrames(const Profile& profile) : profile_(profile) { Id("[root]"); }
  size_t Id(uint32_t frame) { return Id(DhatFrame(profile_, profile_.frames[frame])); }
  size_t Id(const std::string& text) {
    const auto [place, fresh] = ids_.try_emplace(text, ids_.size());
    if (fresh) texts_.push_back(text);
    return place->second;
  }
  Json Take() { return std::move(texts_); }

 private:
  const Profile& profile_;
  std::map<std::string, size_t> ids_;
  Json texts_ = Json::array();
};

}  // namespace

std::string ExportDhat(const Profile& profile, const ExportOptions&) {
  const SnapshotProgram& program = profile.program;
  DhatFrames frames(profile);
  // innermost first; the threads of a stack are summed
  std::map<std::vector<size_t>, Figures> stacks;
  for (const ProfileSite& site : profile.sites) {
    std::vector<size_t> stack;
    for (const uint32_t node : PathToRoot(profile.nodes, site.node)) {
      stack.push_back(frames.Id(profile.nodes[node].frame));
    }
    if (stack.empty()) stack.push_back(frames.Id("[no stack]"));
    AddFigures(stacks[stack], site);
  }
  Json points = Json::array();
  for (const auto& [stack, figures] : stacks) {
    points.push_back({{"tb", figures.total.bytes},
                      {"tbk", figures.total.allocations},
                      {"mb", std::max(figures.peak.bytes, figures.leaked.bytes)},
                      {"mbk", std::max(figures.peak.allocations, figures.leaked.allocations)},
                      {"gb", figures.peak.bytes},
                      {"gbk", figures.peak.allocations},
                      {"eb", figures.leaked.bytes},
                      {"ebk", figures.leaked.allocations},
                      {"fs", stack}});
  }
  std::string mode =
      "heap, by memprof: \"Max\" is the larger of t-gmax and t-end, lifetimes (NaN) "
      "are not known";
  if (program.peak_time_resolution_ms == 0) mode += ", nor is when t-gmax was";
  if (profile.tracker.sample_bytes != 0) {
    mode += "; sampled, " + SamplingText(profile.tracker.sample_bytes);
  }
  const Json json = {{"dhatFileVersion", 2},
                     {"mode", mode},
                     {"verb", "Allocated"},
                     {"bklt", true},
                     {"bkacc", false},
                     {"tu", "µs"},
                     {"Mtu", "s"},
                     {"tuth", 500},
                     {"cmd", fmt::format("{}", fmt::join(program.command, " "))},
                     {"pid", program.pid},
                     {"te", program.duration_ms * 1000},
                     {"tg", std::min(program.peak_time_ms, program.duration_ms) * 1000},
                     {"pps", std::move(points)},
                     {"ftbl", frames.Take()}};
  return WithEscapedControls(json.dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace memprof
