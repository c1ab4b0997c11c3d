// Folded stacks ("main;parse;malloc_wrapper 4096"), as flame graph tools read them: root first, one
// stack a line, bytes of one figure.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "formats/exporters.h"

namespace memprof {
namespace {

// ';' separates frames and a newline ends the stack; nothing else is special.
std::string FoldedName(const std::string& function) {
  std::string name = function;
  std::replace(name.begin(), name.end(), ';', ':');
  std::replace(name.begin(), name.end(), '\n', ' ');
  return name;
}

}  // namespace

std::string ExportFolded(const Profile& profile, const ExportOptions& options) {
  std::map<std::string, uint64_t> stacks;  // frames of equal names are one
  for (const ProfileSite& site : profile.sites) {
    const uint64_t bytes = FigureOf(site, options.figure).bytes;
    if (bytes == 0) continue;
    std::vector<std::string> names;
    for (uint32_t node = site.node; node != 0; node = profile.nodes[node].parent) {
      names.push_back(FoldedName(profile.frames[profile.nodes[node].frame].function));
    }
    std::reverse(names.begin(), names.end());
    stacks[fmt::format("{}", fmt::join(names, ";"))] += bytes;
  }
  std::string text;
  for (const auto& [stack, bytes] : stacks) text += fmt::format("{} {}\n", stack, bytes);
  return text;
}

}  // namespace memprof
