#include "cli/web/page_bands.h"

#include <algorithm>
#include <utility>

#include "cli/web/page_functions.h"
#include "cli/web/page_tree.h"
#include "core/tree/path_to_root.h"

namespace memprof {
namespace {

// A function's sites are [begin, end) of all sites in the order of their functions.
struct Holder {
  uint32_t name = 0;
  size_t begin = 0;
  size_t end = 0;
  Count highest;  // each figure at its own moment
};

class BandMaker {
 public:
  BandMaker(const Profile& profile, const MergedTree& merged)
      : profile_(profile), merged_(merged), moments_(profile.moments.at.size()) {
    // A row of the merged tree and one of these never have the same number.
    no_program_ = static_cast<uint32_t>(merged.names.size());
    runtime_ = no_program_ + 1;
    for (uint32_t i = 0; i < profile.sites.size(); ++i) {
      if (!profile.sites[i].history.empty()) located_.emplace_back(LocationOf(i), i);
    }
    std::sort(located_.begin(), located_.end());
  }

  PageBands Make() {
    PageBands page;
    page.others.resize(moments_);
    const std::vector<Holder> holders = Holders();
    const std::vector<size_t> chosen = Chosen(holders);
    for (const size_t i : chosen) {
      page.bands.push_back({NameOf(holders[i].name), LiveOf(holders[i])});
    }
    std::vector<bool> has_band(holders.size(), false);
    for (const size_t i : chosen) has_band[i] = true;
    for (size_t i = 0; i < holders.size(); ++i) {
      if (has_band[i]) continue;
      const std::vector<Count> live = LiveOf(holders[i]);
      for (size_t m = 0; m < moments_; ++m) page.others[m] += live[m];
    }
    return page;
  }

 private:
  uint32_t LocationOf(uint32_t index) const {
    if (profile_.sites[index].runtime_reason != nullptr) return runtime_;
    for (const uint32_t node : PathToRoot(merged_.nodes, merged_.node_of_site[index])) {
      const uint32_t name = merged_.nodes[node].frame;
      if (!IsFolded(merged_.names[name].kind)) return name;
    }
    return no_program_;
  }

  FunctionName NameOf(uint32_t name) const {
    if (name == no_program_) return {kNoProgramRow, "", "", FrameKind::kRow};
    if (name == runtime_) return {kRuntimeRow, "", "", FrameKind::kRow};
    const FunctionName& of = merged_.names[name];
    return {Shortened(of.function), Shortened(of.file), Shortened(of.module), of.kind};
  }

  std::vector<Holder> Holders() const {
    std::vector<Holder> holders;
    for (size_t i = 0; i < located_.size();) {
      Holder holder = {located_[i].first, i, i, {}};
      while (i < located_.size() && located_[i].first == holder.name) ++i;
      holder.end = i;
      for (const Count& live : LiveOf(holder)) {
        holder.highest.bytes = std::max(holder.highest.bytes, live.bytes);
        holder.highest.allocations = std::max(holder.highest.allocations, live.allocations);
      }
      holders.push_back(holder);
    }
    return holders;
  }

  std::vector<Count> LiveOf(const Holder& holder) const {
    // The changes at each moment, modulo 2^64, and then their sums up to it.
    std::vector<Count> live(moments_);
    for (size_t i = holder.begin; i < holder.end; ++i) {
      Count before;
      for (const LiveChange& change : profile_.sites[located_[i].second].history) {
        Count& at = live[change.moment];
        at.bytes += change.live.bytes - before.bytes;
        at.allocations += change.live.allocations - before.allocations;
        before = change.live;
      }
    }
    for (size_t m = 1; m < live.size(); ++m) live[m] += live[m - 1];
    return live;
  }

  static std::vector<size_t> Chosen(const std::vector<Holder>& holders) {
    std::vector<size_t> chosen;
    for (const auto by : {&Count::bytes, &Count::allocations}) {
      std::vector<size_t> order(holders.size());
      for (size_t i = 0; i < order.size(); ++i) order[i] = i;
      std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        return holders[a].highest.*by > holders[b].highest.*by;
      });
      order.resize(std::min(order.size(), kBandsByMeasure));
      for (const size_t i : order) {
        const bool is_there = std::find(chosen.begin(), chosen.end(), i) != chosen.end();
        if (!is_there && holders[i].highest.*by > 0) chosen.push_back(i);
      }
    }
    return chosen;
  }

  const Profile& profile_;
  const MergedTree& merged_;
  const size_t moments_;
  uint32_t no_program_ = 0, runtime_ = 0;
  std::vector<std::pair<uint32_t, uint32_t>> located_;  // (name, site), ascending
};

}  // namespace

PageBands MakePageBands(const Profile& profile, const MergedTree& merged) {
  if (profile.moments.at.empty()) return {};
  PageBands page = BandMaker(profile, merged).Make();
  for (const SnapshotSource& source : profile.sources) {
    if (!source.has_moments) ++page.sources_without;
  }
  return page;
}

}  // namespace memprof
