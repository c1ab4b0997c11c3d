#include "cli/budget/initial_budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/terminal/terminal.h"
#include "core/budget/function_name.h"
#include "core/budget/limit_kind.h"
#include "core/budget/site_pattern.h"
#include "core/frame_kind.h"
#include "core/profile/location.h"
#include "core/profile/symbol_key.h"
#include "core/units.h"

namespace memprof {
namespace {

constexpr const char* kProgramLimits[] = {"peak", "peak_rss", "leaked", "allocations"};
constexpr size_t kMostMatches = 3;
constexpr uint64_t kLeastShare = 10;  // one part in so many of the peak
constexpr double kHeadroom = 1.25;

double CeilToTwoDigits(double value) {
  if (value < 100) return std::ceil(value);
  const double unit = std::pow(10, std::floor(std::log10(value)) - 1);
  return std::ceil(value / unit) * unit;
}

// As TOML has it: the largest unit that leaves two digits before the point.
std::string Allowance(double measured, Unit unit) {
  double value = measured * kHeadroom;
  if (unit == Unit::kCount) return fmt::format("{:.0f}", CeilToTwoDigits(value));
  size_t power = 0;
  while (value >= 10 * 1024 && power + 1 < std::size(kByteUnits)) {
    value /= 1024;
    ++power;
  }
  return fmt::format("\"{:.0f} {}\"", CeilToTwoDigits(value), kByteUnits[power]);
}

std::string LimitLine(const char* key, const Profile& profile, const std::vector<uint32_t>& sites) {
  const LimitKind& kind = *FindLimitKind(key);
  const Measurement measured = kind.measure({profile, sites}, kind);
  if (!measured.why_not.empty()) return fmt::format("# {}: {}\n", key, measured.why_not);
  return fmt::format("{} = {}  # was {}\n", key, Allowance(measured.value, kind.unit),
                     FormatValue(measured.value, kind.unit));
}

// All that a limit of the kind counts.
std::vector<uint32_t> SitesOf(const Profile& profile, const std::vector<bool>& matching,
                              const LimitKind& kind) {
  std::vector<uint32_t> sites;
  for (uint32_t i = 0; i < profile.sites.size(); ++i) {
    if (matching[i] && !(kind.leak && profile.sites[i].runtime_reason != nullptr)) {
      sites.push_back(i);
    }
  }
  return sites;
}

// A name that can be written, and is one.
bool IsFunction(const std::string& name) {
  return !name.empty() && name[0] != '[' && name != kNoSymbol && Printable(name) == name &&
         name.find_first_of("\\\"'") == std::string::npos;
}

// The functions that hold most of the peak.
std::vector<std::string> HeaviestFunctions(const Profile& profile) {
  std::map<std::string, uint64_t> bytes;
  for (const ProfileSite& site : profile.sites) {
    const uint32_t node = LocationOf(profile, site);
    if (node == 0 || site.runtime_reason != nullptr) continue;
    const ProfileFrame& frame = profile.frames[profile.nodes[node].frame];
    const std::string path =
        frame.module < profile.modules.size() ? profile.modules[frame.module].path : "";
    // An allocation that only system code made is nobody's in particular.
    if (ClassifyFrame(frame.function, path) != FrameKind::kProgram) continue;
    const std::string key = FunctionKey(frame.function, path);
    const std::string function(QualifiedName(key));
    if (IsFunction(function) && key != kNoSymbol) bytes[function] += site.peak.bytes;
  }
  std::vector<std::pair<std::string, uint64_t>> heaviest(bytes.begin(), bytes.end());
  std::stable_sort(heaviest.begin(), heaviest.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> functions;
  for (const auto& [function, held] : heaviest) {
    if (functions.size() == kMostMatches || held * kLeastShare < profile.peak.bytes) break;
    functions.push_back(function);
  }
  return functions;
}

std::string MatchText(const std::string& function, const Profile& profile) {
  auto pattern = Pattern::Glob(function);
  if (!pattern) return {};
  SitePattern sites;
  sites.functions.push_back(std::move(*pattern));
  sites.where = Where::kPlace;
  const std::vector<bool> matching = MatchingSites(profile, sites);
  return fmt::format(
      "\n[[budget.match]]\nfunction = \"{}\"\nwhere = \"place\"\n{}", function,
      LimitLine("peak", profile, SitesOf(profile, matching, *FindLimitKind("peak"))));
}

}  // namespace

std::string InitialBudget(const Profile& profile, const std::string& capture) {
  const std::vector<bool> all(profile.sites.size(), true);
  std::string text = fmt::format(
      "# From {}: what it measured and a quarter more. docs/budgets.md\n"
      "# has every key; limits against a baseline are written peak = [\"+5%\", \"+64 KiB\"].\n"
      "[budget]\n",
      Printable(capture));
  for (const char* key : kProgramLimits) {
    text += LimitLine(key, profile, SitesOf(profile, all, *FindLimitKind(key)));
  }
  for (const std::string& function : HeaviestFunctions(profile)) {
    text += MatchText(function, profile);
  }
  return text;
}

}  // namespace memprof
