#include "cli/reports/difference/profile_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "core/profile/location.h"
#include "core/profile/symbol_key.h"
#include "core/tree/path_to_root.h"

namespace memprof {
namespace {

using Key = std::vector<SymbolKey>;

uint64_t Magnitude(int64_t change) {
  return change < 0 ? uint64_t{0} - static_cast<uint64_t>(change) : static_cast<uint64_t>(change);
}

class Builder {
 public:
  explicit Builder(DiffBy by) : by_(by) {}

  // `figures` is the side of the rows that is filled. Add the later profile last: rows have its
  // names.
  void Add(const Profile& profile, DiffFigures DiffRow::*figures) {
    keys_.clear();
    for (const ProfileFrame& frame : profile.frames) keys_.push_back(SymbolKeyOf(profile, frame));
    const bool later = figures == &DiffRow::after;
    std::map<const DiffRow*, uint32_t> lines;
    for (const ProfileSite& site : profile.sites) {
      const auto [at, fresh] = rows_.try_emplace(KeyOf(profile, site));
      DiffRow& row = at->second;
      const bool first = lines.emplace(&row, 0).second;
      if (first && (fresh || later)) Name(profile, site, row);
      if (!first && LineOf(profile, site) != row.line) row.line = 0;
      DiffFigures& side = row.*figures;
      AddFigures(side, site);
      side.variances += site.variances;
    }
  }

  std::vector<DiffRow> Take() {
    std::vector<DiffRow> rows;
    for (auto& entry : rows_) rows.push_back(std::move(entry.second));
    return rows;
  }

 private:
  static const ProfileFrame* LocationFrame(const Profile& profile, const ProfileSite& site) {
    const uint32_t node = LocationOf(profile, site);
    return node == 0 ? nullptr : &profile.frames[profile.nodes[node].frame];
  }

  static uint32_t LineOf(const Profile& profile, const ProfileSite& site) {
    const ProfileFrame* frame = LocationFrame(profile, site);
    return frame == nullptr ? 0 : frame->line;
  }

  Key KeyOf(const Profile& profile, const ProfileSite& site) const {
    if (site.runtime_reason != nullptr) return {{kRuntimeRow, ""}};
    if (by_ == DiffBy::kSite) {
      Key key;
      for (const uint32_t node : PathToRoot(profile.nodes, site.node)) {
        key.push_back(keys_[profile.nodes[node].frame]);
      }
      return key;
    }
    const uint32_t node = LocationOf(profile, site);
    if (node == 0) return {};
    const SymbolKey& location = keys_[profile.nodes[node].frame];
    // A row that is no code has no module, only its name.
    if (by_ == DiffBy::kModule && !location.module.empty()) return {{"", location.module}};
    return {location};
  }

  void Name(const Profile& profile, const ProfileSite& site, DiffRow& row) const {
    const ProfileFrame* frame = LocationFrame(profile, site);
    row.file.clear();
    row.line = 0;
    row.stack.clear();
    if (site.runtime_reason != nullptr || frame == nullptr) {
      row.function = site.runtime_reason != nullptr ? kRuntimeRow : "[no stack]";
      return;
    }
    const SymbolKey& key = keys_[static_cast<size_t>(frame - profile.frames.data())];
    row.module = ModuleOf(profile, *frame);
    if (by_ == DiffBy::kModule && !key.module.empty()) return;
    row.function = key.function;
    row.file = frame->file;
    row.line = frame->line;
    if (by_ != DiffBy::kSite) return;
    const uint32_t location = LocationOf(profile, site);
    for (const uint32_t node : PathToRoot(profile.nodes, site.node)) {
      if (node == location) row.location = row.stack.size();
      const uint32_t id = profile.nodes[node].frame;
      row.stack.push_back({keys_[id].function, ModuleOf(profile, profile.frames[id])});
    }
  }

  static std::string ModuleOf(const Profile& profile, const ProfileFrame& frame) {
    return frame.module < profile.modules.size() ? profile.modules[frame.module].path : "";
  }

  const DiffBy by_;
  std::vector<SymbolKey> keys_;  // of the frames of the profile that is being added
  std::map<Key, DiffRow> rows_;
};

}  // namespace

const char* NameOf(DiffBy by) {
  switch (by) {
    case DiffBy::kFunction:
      return "function";
    case DiffBy::kModule:
      return "module";
    case DiffBy::kSite:
      break;
  }
  return "site";
}

Result<DiffBy> ParseDiffBy(std::string_view text) {
  for (const DiffBy by : kAllDiffBys) {
    if (text == NameOf(by)) return by;
  }
  return Fail(ErrorKind::kUsage, fmt::format("--by {}: compare by site, function or module", text));
}

Result<DiffSort> ParseDiffSort(std::string_view text) {
  if (text == "bytes") return DiffSort::kBytes;
  if (text == "allocations") return DiffSort::kAllocations;
  if (text == "function") return DiffSort::kFunction;
  return Fail(ErrorKind::kUsage,
              fmt::format("-s {}: sort by bytes, allocations or function", text));
}

std::vector<DiffRow> DiffRows(const Profile& before, const Profile& after, DiffBy by, Figure figure,
                              DiffSort sort) {
  Builder builder(by);
  builder.Add(before, &DiffRow::before);
  builder.Add(after, &DiffRow::after);
  std::vector<DiffRow> rows = builder.Take();
  auto weight = [&](const DiffRow& row) -> uint64_t {
    const Change change = ChangeOf(FigureOf(row.before, figure), FigureOf(row.after, figure));
    switch (sort) {
      case DiffSort::kBytes:
        return Magnitude(change.bytes);
      case DiffSort::kAllocations:
        return Magnitude(change.allocations);
      case DiffSort::kFunction:
        break;
    }
    return 0;
  };
  // Stable: equal rows keep the order of their keys, which is the same every time.
  std::stable_sort(rows.begin(), rows.end(), [&](const DiffRow& a, const DiffRow& b) {
    if (const uint64_t x = weight(a), y = weight(b); x != y) return x > y;
    return std::tie(a.function, a.module) < std::tie(b.function, b.module);
  });
  return rows;
}

DiffFigures FiguresOf(const Profile& profile) { return {profile, profile.variances}; }

std::vector<Figure> KnownFigures(const Profile& before, const Profile& after) {
  std::vector<Figure> known(std::begin(kAllFigures), std::end(kAllFigures));
  if (before.tracker.temporary_threshold == 0 || after.tracker.temporary_threshold == 0) {
    std::erase(known, Figure::kTemporary);
  }
  // A moment has what was live then; the other figures would be the whole runs'.
  if (before.chosen || after.chosen) known = {Figure::kPeak};
  return known;
}

Change ChangeOf(const Count& before, const Count& after) {
  return {static_cast<int64_t>(after.bytes - before.bytes),
          static_cast<int64_t>(after.allocations - before.allocations)};
}

Variance ChangeVariance(const DiffFigures& before, const DiffFigures& after, Figure figure) {
  Variance sum = FigureOf(before.variances, figure);
  sum += FigureOf(after.variances, figure);
  return sum;
}

}  // namespace memprof
