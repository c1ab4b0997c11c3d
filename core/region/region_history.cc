#include "core/region/region_history.h"

#include <utility>

#include "core/region/region_mappings.h"
#include "core/region/region_view.h"
#include "core/region/site_sums.h"
#include "core/region/within_memory.h"

namespace memprof {
namespace {

struct LiveSums {
  SiteSums sums;
  bool quiet = false;  // the ordering word did not move meanwhile
};

Result<LiveSums> ReadLive(RegionView& region) {
  const auto before = region.ReadWord();
  if (!before) return tl::unexpected<Error>(before.error());
  const auto still = region.Refresh(*before);
  if (!still) return tl::unexpected<Error>(still.error());
  LiveSums live = {SumCells(region, *before), false};
  const auto after = region.ReadWord();
  if (!after) return tl::unexpected<Error>(after.error());
  live.quiet = *still && *before == *after;
  return live;
}

Result<RegionMoment> ReadNow(const RegionPlace& place, uint64_t time_ms) {
  auto region = RegionView::Open(place);
  if (!region) return tl::unexpected<Error>(region.error());
  const auto live = ReadLive(*region);
  if (!live) return tl::unexpected<Error>(live.error());
  RegionMoment moment = {time_ms, true, nullptr};
  if (live->quiet) {
    // Threads may hold events back from the word, so only the cells can tell.
    const auto again = ReadLive(*region);
    if (!again) return tl::unexpected<Error>(again.error());
    moment.inexact = again->sums.moved_bytes != live->sums.moved_bytes ||
                     again->sums.moved_count != live->sums.moved_count;
  }
  std::vector<SiteLive> sites;
  for (uint32_t i = 0; i < live->sums.sites.size(); ++i) {
    const SiteFigures& figures = live->sums.sites[i];
    const Count count = NotBelowZero(figures.live_bytes, figures.live_count);
    if (count != Count()) sites.push_back({i, count});
  }
  sites.shrink_to_fit();
  moment.sites = std::make_shared<const std::vector<SiteLive>>(std::move(sites));
  if (std::vector<SiteLive> mapped = ReadMapped(*region); !mapped.empty()) {
    moment.mappings = std::make_shared<const std::vector<SiteLive>>(std::move(mapped));
  }
  return moment;
}

using LiveMember = std::shared_ptr<const std::vector<SiteLive>> RegionMoment::*;

std::vector<LiveHistory> Transposed(const std::vector<RegionMoment>& moments, LiveMember member,
                                    size_t sites) {
  std::vector<LiveHistory> histories(sites);
  const std::vector<SiteLive> none;
  const std::vector<SiteLive>* before = &none;
  for (uint32_t m = 0; m < moments.size(); ++m) {
    const std::vector<SiteLive>& now = moments[m].*member ? *(moments[m].*member) : none;
    auto change = [&](uint32_t site, const Count& live) {
      if (site < sites) histories[site].push_back({m, live});
    };
    auto old = before->begin();
    for (const SiteLive& entry : now) {
      for (; old != before->end() && old->site < entry.site; ++old) change(old->site, {});
      const bool was_there = old != before->end() && old->site == entry.site;
      if (!was_there || old->live != entry.live) change(entry.site, entry.live);
      if (was_there) ++old;
    }
    for (; old != before->end(); ++old) change(old->site, {});
    before = &now;
  }
  return histories;
}

}  // namespace

Result<RegionMoment> ReadMoment(const RegionPlace& place, uint64_t time_ms) {
  return WithinMemory([&] { return ReadNow(place, time_ms); });
}

std::vector<LiveHistory> HistoriesBySite(const std::vector<RegionMoment>& moments, size_t sites) {
  return Transposed(moments, &RegionMoment::sites, sites);
}

std::vector<LiveHistory> HistoriesByMapping(const std::vector<RegionMoment>& moments,
                                            size_t records) {
  return Transposed(moments, &RegionMoment::mappings, records);
}

}  // namespace memprof
