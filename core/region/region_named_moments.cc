#include "core/region/region_named_moments.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

namespace memprof {
namespace {

constexpr int kMomentTries = 100;

// A record at one instant, without its rows.
struct Record {
  uint32_t sequence = 0;
  uint64_t first_row = 0, rows = 0;
  NamedRegionMoment named;
};

// Returns false if the record is being written again and again, or for ever.
bool ReadRecord(const NamedMomentRecord& from, Record& record) {
  for (int i = 0; i < kMomentTries; ++i) {
    record.sequence = from.sequence.load(std::memory_order_acquire);
    if (record.sequence == 0 || record.sequence % 2 != 0) continue;
    char name[sizeof from.name];
    std::memcpy(name, from.name, sizeof name);
    record.named.name.assign(name, strnlen(name, sizeof name));
    record.named.moment.time_ms = from.time_ns.load(std::memory_order_acquire) / 1000000;
    record.named.moment.inexact = from.inexact.load(std::memory_order_acquire) != 0;
    record.first_row = from.first_row.load(std::memory_order_acquire);
    record.rows = from.rows.load(std::memory_order_acquire);
    if (from.sequence.load(std::memory_order_relaxed) == record.sequence) return true;
  }
  return false;
}

void MakeAscending(std::vector<SiteLive>& live) {
  const auto by_site = [](const SiteLive& a, const SiteLive& b) { return a.site < b.site; };
  const auto same_site = [](const SiteLive& a, const SiteLive& b) { return a.site == b.site; };
  std::stable_sort(live.begin(), live.end(), by_site);
  live.erase(std::unique(live.begin(), live.end(), same_site), live.end());
}

// The rows of a record; none if they can't be right. No two records share a row, so all rows
// together with those already `copied` are no more than the table's.
std::vector<SiteLive> CopyRows(const RegionView& region, Record& record, uint64_t copied) {
  const auto* rows = region.Records<NamedMomentRow>(Table::kNamedMomentRows);
  const uint64_t all = region.count(Table::kNamedMomentRows);
  const uint64_t left = all - std::min(copied, all);
  const uint32_t sites = region.count(Table::kSites);
  std::vector<SiteLive> live;
  if (record.first_row > all || record.rows > std::min(all - record.first_row, left)) {
    record.rows = 0;
  }
  for (uint64_t i = record.first_row; i < record.first_row + record.rows; ++i) {
    const uint32_t site = __atomic_load_n(&rows[i].site, __ATOMIC_ACQUIRE);
    const uint32_t blocks = __atomic_load_n(&rows[i].count, __ATOMIC_ACQUIRE);
    const uint64_t bytes = __atomic_load_n(&rows[i].bytes, __ATOMIC_ACQUIRE);
    if (site < sites) live.push_back({site, {bytes, blocks}});
  }
  MakeAscending(live);
  return live;
}

bool Before(const NamedRegionMoment& a, const NamedRegionMoment& b) {
  return a.moment.time_ms != b.moment.time_ms ? a.moment.time_ms < b.moment.time_ms
                                              : a.name < b.name;
}

// One of all named moments; the rows of the program's own are filled in later.
struct Entry {
  NamedRegionMoment named;
  bool of_program = false;
  uint32_t index = 0;  // index of its record, for the program's own
  Record record = {};
};

// Copies the rows, if need be of the named moment that took the record's place meanwhile. Returns
// false if the record keeps changing.
bool Fill(const RegionView& region, const NamedMomentRecord& from, Entry& entry, uint64_t& copied) {
  for (int i = 0; i < kMomentTries; ++i) {
    auto live = CopyRows(region, entry.record, copied);
    if (from.sequence.load(std::memory_order_relaxed) == entry.record.sequence) {
      copied += entry.record.rows;
      entry.named.moment = entry.record.named.moment;
      entry.named.moment.sites = std::make_shared<const std::vector<SiteLive>>(std::move(live));
      return true;
    }
    if (!ReadRecord(from, entry.record)) return false;
  }
  return false;
}

// The next to be dropped if there are too many: the oldest automatic one. If there is none, the
// last one that the program took, since earlier ones were already reported to users.
std::vector<Entry>::iterator NextToGo(std::vector<Entry>& all) {
  const auto oldest = std::find_if(all.begin(), all.end(),
                                   [](const Entry& entry) { return entry.named.automatic; });
  if (oldest != all.end()) return oldest;
  const auto last =
      std::find_if(all.rbegin(), all.rend(), [](const Entry& entry) { return entry.of_program; });
  return last == all.rend() ? all.end() - 1 : last.base() - 1;
}

}  // namespace

std::vector<NamedRegionMoment> AllNamed(const RegionView& region,
                                        const std::vector<NamedRegionMoment>& seen,
                                        uint64_t& left_out) {
  std::vector<Entry> all;
  std::vector<NamedMoment> names;
  for (const NamedRegionMoment& named : seen) {
    all.push_back({named});
    names.push_back({named.name});
  }
  const auto* records = region.Records<NamedMomentRecord>(Table::kNamedMoments);
  for (uint32_t i = 0; i < region.count(Table::kNamedMoments); ++i) {
    Entry entry = {{}, true, i};
    if (!ReadRecord(records[i], entry.record)) continue;
    entry.named = entry.record.named;
    entry.named.name = MomentName(entry.named.name, names);
    names.push_back({entry.named.name});
    all.push_back(std::move(entry));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Entry& a, const Entry& b) { return Before(a.named, b.named); });
  while (all.size() > kMaxNamedMoments) {
    all.erase(NextToGo(all));
    ++left_out;
  }

  std::vector<NamedRegionMoment> kept;
  uint64_t copied = 0;
  for (Entry& entry : all) {
    const bool is_whole = !entry.of_program || Fill(region, records[entry.index], entry, copied);
    if (is_whole) kept.push_back(std::move(entry.named));
    left_out += is_whole ? 0 : 1;
  }
  std::stable_sort(kept.begin(), kept.end(), Before);
  return kept;
}

std::vector<std::string> NamesOfProgram(const RegionPlace& place) {
  const auto region = RegionView::Open(place);
  std::vector<std::string> names;
  if (!region) return names;
  const auto* records = region->Records<NamedMomentRecord>(Table::kNamedMoments);
  for (uint32_t i = 0; i < region->count(Table::kNamedMoments); ++i) {
    Record record;
    if (ReadRecord(records[i], record)) names.push_back(record.named.name);
  }
  return names;
}

}  // namespace memprof
