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
#include "core/budget/limit_kind.h"
#include "core/budget/site_pattern.h"
#include "core/frame_kind.h"
#include "core/profile/function_name.h"
#include "core/profile/location.h"
#include "core/profile/symbol_key.h"
#include "core/units.h"

namespace memprof {
namespace {

constexpr const char* kProgramLimits[] = {"peak", "peak_rss", "leaked", "allocations"};
constexpr size_t kMostMatches = 3;
constexpr uint64_t kLeastShare = 10;  // the peak divided by this is the least share
constexpr double kHeadroomOfOne = 0.25;
constexpr double kHeadroomOfSeveral = 0.1;
constexpr double kSpreads = 3;
constexpr double kFlakySpread = 0.1;

double CeilToTwoDigits(double value) {
  if (value < 100) return std::ceil(value);
  const double unit = std::pow(10, std::floor(std::log10(value)) - 1);
  return std::ceil(value / unit) * unit;
}

// In TOML's notation: the largest unit that leaves two digits before the point.
std::string Allowance(double value, Unit unit) {
  if (unit == Unit::kCount) return fmt::format("{:.0f}", CeilToTwoDigits(value));
  size_t power = 0;
  while (value >= 10 * 1024 && power + 1 < std::size(kByteUnits)) {
    value /= 1024;
    ++power;
  }
  return fmt::format("\"{:.0f} {}\"", CeilToTwoDigits(value), kByteUnits[power]);
}

// All sites that a limit of this kind counts.
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

// The line of a limit; `matching` selects a profile's sites.
template <typename Matching>
std::string LimitLine(const char* key, const std::string& subject, std::span<const InitialRun> runs,
                      const Matching& matching, std::vector<std::string>& flaky) {
  const LimitKind& kind = *FindLimitKind(key);
  double lowest = 0, highest = 0;
  for (const InitialRun& run : runs) {
    const Profile& profile = *run.profile;
    const Measurement measured =
        kind.measure({profile, SitesOf(profile, matching(profile), kind)}, kind);
    if (!measured.why_not.empty()) return fmt::format("# {}: {}\n", key, measured.why_not);
    lowest = &run == runs.data() ? measured.value : std::min(lowest, measured.value);
    highest = std::max(highest, measured.value);
  }
  const double spread = highest - lowest;
  const bool one = runs.size() == 1;
  const double headroom =
      one ? kHeadroomOfOne * highest : std::max(kHeadroomOfSeveral * highest, kSpreads * spread);
  std::string was = FormatValue(highest, kind.unit);
  if (spread > 0) was = FormatValue(lowest, kind.unit) + " to " + was;
  std::string line =
      fmt::format("{} = {}  # was {}", key, Allowance(highest + headroom, kind.unit), was);
  if (spread > kFlakySpread * highest) {
    const std::string by = fmt::format("{:.0f}%", 100 * spread / highest);
    line += fmt::format("; flaky: it varies by {}", by);
    flaky.push_back(
        fmt::format("{}: {} varies by {} between the runs ({}): a limit near it would be "
                    "flaky, and the one that is written sees no small regression",
                    subject, key, by, was));
  }
  return line + "\n";
}

// True if the name is a function's and can be written as a pattern.
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
    // Allocations that only system code made belong to no function of the program.
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

std::string MatchText(const std::string& function, std::span<const InitialRun> runs,
                      std::vector<std::string>& flaky) {
  auto pattern = Pattern::Glob(function);
  if (!pattern) return {};
  SitePattern sites;
  sites.functions.push_back(std::move(*pattern));
  sites.where = Where::kPlace;
  const auto matching = [&](const Profile& profile) { return MatchingSites(profile, sites); };
  return fmt::format("\n[[budget.match]]\nfunction = \"{}\"\nwhere = \"place\"\n{}", function,
                     LimitLine("peak", function, runs, matching, flaky));
}

}  // namespace

InitialBudgetText InitialBudget(std::span<const InitialRun> runs) {
  const auto all = [](const Profile& profile) {
    return std::vector<bool>(profile.sites.size(), true);
  };
  const std::string first = Printable(runs[0].capture);
  const std::string from =
      runs.size() == 1
          ? fmt::format(
                "# From {}: what it measured and a quarter more. Several captures would show\n"
                "# how much the figures vary by themselves: memprof budget init A B C.\n",
                first)
          : fmt::format(
                "# From {} runs, {} and others: the highest figures, and three times the\n"
                "# spread between the runs, or a tenth, more.\n",
                runs.size(), first);
  InitialBudgetText budget;
  budget.text = from +
                "# docs/budgets.md has every key; limits against a baseline are written\n"
                "# peak = [\"+5%\", \"+64 KiB\"].\n[budget]\n";
  for (const char* key : kProgramLimits) {
    budget.text += LimitLine(key, "the program", runs, all, budget.flaky);
  }
  for (const std::string& function : HeaviestFunctions(*runs[0].profile)) {
    budget.text += MatchText(function, runs, budget.flaky);
  }
  return budget;
}

}  // namespace memprof
