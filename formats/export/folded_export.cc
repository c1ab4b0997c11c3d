// Folded stacks ("main;parse;malloc_wrapper 4096"), as flame graph tools read them: root first, one
// stack a line, bytes of one figure. If they are estimates, the root says so.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "core/printable.h"
#include "core/tree/path_to_root.h"
#include "core/units.h"
#include "formats/export/exporters.h"

namespace memprof {
namespace {

// ';' separates frames and a newline ends the stack.
std::string FoldedName(const std::string& function) {
  std::string name = function;
  std::replace(name.begin(), name.end(), ';', ':');
  std::replace(name.begin(), name.end(), '\n', ' ');
  return Printable(name);
}

// The format has nothing but stacks, so what applies to all of them becomes their first frame.
std::string RootOfEstimates(const Profile& profile, Figure figure) {
  if (profile.tracker.sample_bytes == 0) return {};
  const Variance& variance = FigureOf(profile.variances, figure);
  return fmt::format("[estimates: sampled, one block per {}; the sum is ± {}]",
                     FormatBytes(profile.tracker.sample_bytes),
                     FormatBytes(StandardError(variance).bytes));
}

}  // namespace

std::string ExportFolded(const Profile& profile, const ExportOptions& options) {
  const std::string root = RootOfEstimates(profile, options.figure);
  std::map<std::string, uint64_t> stacks;  // frames of equal names are merged
  for (const ProfileSite& site : profile.sites) {
    const uint64_t bytes = FigureOf(site, options.figure).bytes;
    if (bytes == 0) continue;
    std::vector<std::string> names;
    for (const uint32_t node : PathToRoot(profile.nodes, site.node)) {
      names.push_back(FoldedName(profile.frames[profile.nodes[node].frame].function));
    }
    if (!root.empty()) names.push_back(root);
    std::reverse(names.begin(), names.end());
    stacks[fmt::format("{}", fmt::join(names, ";"))] += bytes;
  }
  std::string text;
  for (const auto& [stack, bytes] : stacks) text += fmt::format("{} {}\n", stack, bytes);
  return text;
}

}  // namespace memprof
