#include "cli/scope_stacks/scope_stacks_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/reports/rows.h"
#include "cli/terminal/terminal.h"
#include "core/frame_kind.h"
#include "core/profile/function_name.h"
#include "core/profile/location.h"
#include "core/tree/path_to_root.h"
#include "core/units.h"

namespace memprof {
namespace {

using Weight = ScopeStacksInput::Weight;

constexpr size_t kStacks = 3;
constexpr size_t kFrames = 8;
constexpr size_t kWidth = 96;
constexpr size_t kFunctionWidth = 56;  // width of the function if the place fits beside it

Weight& operator+=(Weight& sum, const Weight& more) {
  sum.bytes += more.bytes;
  sum.blocks += more.blocks;
  return sum;
}

// A stack as it is shown; stacks that look alike are merged.
using Frames = std::vector<std::pair<std::string, std::string>>;  // function, place

// Names may be without parameters.
bool IsTestBody(const std::string& function) {
  return QualifiedName(function).ends_with("::TestBody");
}

// Decided by the innermost function that isn't system code. A stripped library has no names to
// decide by.
bool IsExcepted(const ScopeStacksInput& input, const Profile& profile, const ProfileSite& site) {
  const uint32_t location = LocationOf(profile, site);
  if (location == 0) return false;
  const ProfileFrame& frame = profile.frames[profile.nodes[location].frame];
  if (!input.except.empty() && QualifiedName(frame.function).starts_with(input.except)) return true;
  if (input.except_library.empty() || frame.module == kNoModule) return false;
  const std::string& path = profile.modules[frame.module].path;
  return std::string_view(path)
      .substr(path.rfind('/') + 1)
      .starts_with(input.except_library + ".so");
}

Frames FramesOf(const Profile& profile, const ProfileSite& site) {
  Frames all, own;
  for (const uint32_t node : PathToRoot(profile.nodes, site.node)) {
    const ProfileFrame& frame = profile.frames[profile.nodes[node].frame];
    const std::string module =
        frame.module != kNoModule ? profile.modules[frame.module].path : std::string();
    std::string place = PlaceOf(frame.function, frame.file, frame.line, module, 1);
    all.emplace_back(frame.function, std::move(place));
    if (ClassifyFrame(frame.function, module) != FrameKind::kSystem) own.push_back(all.back());
    if (IsTestBody(frame.function)) break;
  }
  // A stack with only system frames (a buffer of stdio) is shown unchanged.
  return own.empty() ? all : own;
}

std::string Signed(int64_t bytes) {
  return (bytes < 0 ? "−" : "") + FormatBytes(static_cast<uint64_t>(std::llabs(bytes)));
}

std::string FigureText(const Weight& weight) {
  // A realloc makes a block larger: bytes without one more block.
  if (weight.blocks == 0) return Signed(weight.bytes);
  const auto blocks = static_cast<uint64_t>(std::llabs(weight.blocks));
  return fmt::format("{} in {}{}", Signed(weight.bytes), weight.blocks < 0 ? "−" : "",
                     FormatCountOf(blocks, "block"));
}

std::string FramesText(const Frames& frames) {
  const size_t shown = std::min(frames.size(), kFrames);
  size_t widest = 0;
  for (size_t i = 0; i < shown; ++i) {
    widest = std::max(widest, Columns(Printable(frames[i].first)));
  }
  widest = std::min(widest, kFunctionWidth);
  std::string text;
  for (size_t i = 0; i < shown; ++i) {
    const std::string function = Shortened(Printable(frames[i].first), kFunctionWidth);
    const std::string place =
        ShortenedFront(Printable(frames[i].second), kWidth - kFunctionWidth - 6);
    text += place.empty() ? fmt::format("    {}\n", function)
                          : fmt::format("    {}  {}\n", PaddedRight(function, widest), place);
  }
  if (frames.size() > shown) text += fmt::format("    … {} more frames\n", frames.size() - shown);
  if (frames.empty()) text += "    [no stack]\n";
  return text;
}

bool Gained(const Weight& weight) {
  return weight.bytes > 0 || (weight.bytes == 0 && weight.blocks > 0);
}

// The stacks, by index, without those of places that gained nothing. The rest's gain is added to
// `gained`.
std::vector<size_t> WithoutReplaced(const ScopeStacksInput& input, const Profile& profile,
                                    const std::vector<size_t>& stacks, Weight* gained) {
  std::vector<PlaceKey> keys;
  std::map<PlaceKey, Weight> places;
  for (const size_t i : stacks) {
    PlaceKey key = PlaceKeyOf(profile, LocationOf(profile, profile.sites[i]));
    key.line = 0;  // a function may allocate an entry here and its successor there
    places[key] += input.weights[i];
    keys.push_back(std::move(key));
  }
  for (const auto& [key, weight] : places) {
    if (Gained(weight)) *gained += {weight.bytes, std::max<int64_t>(weight.blocks, 0)};
  }
  std::vector<size_t> left;
  for (size_t k = 0; k < stacks.size(); ++k) {
    if (Gained(places[keys[k]])) left.push_back(stacks[k]);
  }
  return left;
}

}  // namespace

ScopeStacksReport ReportScopeStacks(const ScopeStacksInput& input, const Profile& profile) {
  ScopeStacksReport report;
  std::vector<size_t> own;
  for (size_t i = 0; i < profile.sites.size(); ++i) {
    const ProfileSite& site = profile.sites[i];
    if (IsExcepted(input, profile, site)) {
      report.excepted += input.weights[i];
    } else if (input.leaks && site.runtime_reason != nullptr) {
      report.kept += input.weights[i];
    } else {
      own.push_back(i);
    }
  }
  if (input.net) own = WithoutReplaced(input, profile, own, &report.leaked);
  std::map<Frames, Weight> places;
  Weight whole, freed;
  for (const size_t i : own) {
    if (input.net && !Gained(input.weights[i])) {
      freed += input.weights[i];
      continue;
    }
    places[FramesOf(profile, profile.sites[i])] += input.weights[i];
    whole += input.weights[i];
  }
  std::vector<std::pair<Frames, Weight>> rows(places.begin(), places.end());
  auto key = [&](const Weight& w) { return input.by_blocks ? w.blocks : w.bytes; };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const auto& a, const auto& b) { return key(a.second) > key(b.second); });
  Weight others;
  size_t other_places = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto& [frames, weight] = rows[i];
    if (i >= kStacks || (i > 0 && key(weight) <= 0)) {
      others += weight;
      ++other_places;
      continue;
    }
    const int64_t part = key(weight), of = key(whole);
    report.text += "  " + FigureText(weight);
    if (part > 0 && part < of) {
      report.text += ", " + FormatShare(static_cast<uint64_t>(part), static_cast<uint64_t>(of));
    }
    report.text += "\n" + FramesText(frames);
  }
  if (other_places > 0) {
    report.text +=
        fmt::format("  {} at {}\n", FigureText(others), FormatCountOf(other_places, "other place"));
  }
  if (freed.bytes != 0 || freed.blocks != 0) {
    report.text += fmt::format("  less {} that these functions had before\n",
                               FigureText({-freed.bytes, -freed.blocks}));
  }
  return report;
}

}  // namespace memprof
