#include "core/region/region_mappings.h"

#include <algorithm>
#include <utility>

#include "core/once.h"

namespace memprof {
namespace {

constexpr int kMappingTries = 100;
constexpr uint64_t kMostReads = uint64_t{1} << 21;  // of records, in all tries together
constexpr uint32_t kLongestPath = 4096;
constexpr uint64_t kMostNames = uint64_t{64} << 20;  // bytes, of all rows' files

template <typename Word>
Word Get(const std::atomic<Word>& word) {
  return word.load(std::memory_order_acquire);
}

std::string FileName(const RegionView& region, uint32_t file_plus_one) {
  if (file_plus_one == 0 || file_plus_one > region.count(Table::kMappedFiles)) return {};
  const auto& record = region.Records<MappedFileRecord>(Table::kMappedFiles)[file_plus_one - 1];
  const uint64_t bytes = std::min(Get(record.path_bytes), kLongestPath);
  const uint64_t offset = Get(record.path_offset);
  const uint64_t strings = region.count(Table::kStrings);
  if (offset > strings || bytes > strings - offset) return {};
  return {region.Records<char>(Table::kStrings) + offset, bytes};
}

struct MappingsRead {
  std::vector<SnapshotMapping> rows;
  std::vector<uint32_t> of_rows;  // the record of each row
  uint64_t counter_peak = 0;
  uint64_t records = 0;  // number of records that were read
  bool still = false;
};

MappingsRead ReadMappingsOnce(const RegionView& region, const PlaceOfSite& place) {
  const MappingTotals& totals = region.header().mappings;
  MappingsRead read;
  const uint32_t before = Get(totals.sequence);
  const bool armed = Get(totals.armed) != 0;
  const uint64_t epoch = Get(totals.epoch);
  read.counter_peak = Get(totals.peak_bytes);
  const auto* records = region.Records<MappingSiteRecord>(Table::kMappingSites);
  read.records = region.count(Table::kMappingSites);
  uint64_t names = 0;
  for (uint32_t i = 0; i < read.records; ++i) {
    const MappingSiteRecord& record = records[i];
    const uint32_t site = Get(record.site_plus_one);
    if (site == 0) continue;
    const MappingWhat what = UnpackMappingWhat(Once(record.what));
    const Count live = {Get(record.live_bytes), Get(record.live_count)};
    const bool kept = !armed && Get(record.epoch) == epoch;
    const auto [node, name] = place(site - 1);
    std::string file;
    if (what.kind == MappingKind::kFile && names < kMostNames) {
      file = FileName(region, what.file_plus_one);
      names += file.size();
    }
    read.rows.push_back({node, name, what.kind, what.reserved, std::move(file),
                         kept ? Count{Get(record.peak_bytes), Get(record.peak_count)} : live, live,
                         Count{Get(record.total_bytes), Get(record.total_count)}});
    read.of_rows.push_back(i);
  }
  read.still = before % 2 == 0 && Get(totals.sequence) == before;
  return read;
}

std::optional<uint64_t> Known(const std::atomic<uint64_t>& bytes) {
  const uint64_t value = Get(bytes);
  return value == kUnknownBytes ? std::optional<uint64_t>() : value;
}

}  // namespace

SnapshotMappings ReadMappings(const RegionView& region, const PlaceOfSite& place,
                              std::vector<LiveHistory> histories) {
  MappingsRead read = ReadMappingsOnce(region, place);
  uint64_t reads = read.records;
  for (int i = 1; i < kMappingTries && !read.still && reads < kMostReads; ++i) {
    read = ReadMappingsOnce(region, place);
    reads += read.records;
  }
  const MappingTotals& totals = region.header().mappings;
  SnapshotMappings mappings;
  mappings.followed = Once(region.header().options.mappings) != 0;
  mappings.rows = std::move(read.rows);
  for (size_t i = 0; i < mappings.rows.size(); ++i) {
    const uint32_t record = read.of_rows[i];
    if (record < histories.size()) mappings.rows[i].history = std::move(histories[record]);
  }
  mappings.lost_events = Get(totals.lost) + Get(totals.unentered);
  const uint64_t rows = SumMappings(mappings.rows, false).peak.bytes;
  mappings.unattributed_bytes = read.counter_peak > rows ? read.counter_peak - rows : 0;
  return mappings;
}

std::vector<SiteLive> ReadMapped(const RegionView& region) {
  const MappingTotals& totals = region.header().mappings;
  const auto* records = region.Records<MappingSiteRecord>(Table::kMappingSites);
  std::vector<SiteLive> mapped;
  uint64_t reads = 0;
  for (int i = 0; i < kMappingTries && reads <= kMostReads; ++i) {
    mapped.clear();
    const uint32_t before = Get(totals.sequence);
    const uint32_t count = region.count(Table::kMappingSites);
    reads += uint64_t{count} + 1;
    for (uint32_t at = 0; at < count; ++at) {
      if (Get(records[at].site_plus_one) == 0) continue;
      const Count live = {Get(records[at].live_bytes), Get(records[at].live_count)};
      if (live != Count()) mapped.push_back({at, live});
    }
    if (before % 2 == 0 && Get(totals.sequence) == before) break;
  }
  mapped.shrink_to_fit();
  return mapped;
}

std::vector<LiveRange> ReadRanges(const RegionView& region) {
  std::vector<LiveRange> ranges;
  const auto* records = region.Records<MappedRange>(Table::kMappedRanges);
  const auto* mappings = region.Records<MappingRecord>(Table::kMappings);
  const auto* sites = region.Records<MappingSiteRecord>(Table::kMappingSites);
  for (uint32_t i = 0; i < region.count(Table::kMappedRanges); ++i) {
    const uint32_t mapping = Get(records[i].mapping_plus_one);
    if (mapping == 0 || mapping > region.count(Table::kMappings)) continue;
    const uint32_t site = Get(mappings[mapping - 1].site_plus_one);
    if (site == 0 || site > region.count(Table::kMappingSites)) continue;
    const uint64_t start = Get(records[i].start), end = Get(records[i].end);
    if (start < end) ranges.push_back({start, end, UnpackMappingWhat(Once(sites[site - 1].what))});
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const LiveRange& a, const LiveRange& b) { return a.start < b.start; });
  // A correct region's ranges never overlap. Those of a damaged or hostile one are cut: each of the
  // kernel's mappings would otherwise be compared with each of them.
  uint64_t covered = 0;
  std::erase_if(ranges, [&](LiveRange& range) {
    range.start = std::max(range.start, covered);
    covered = std::max(covered, range.end);
    return range.start >= range.end;
  });
  return ranges;
}

AllocatorSample ReadAllocator(const RegionView& region) {
  const AllocatorFigures& figures = region.header().allocator;
  for (int i = 0; i < kMappingTries; ++i) {
    const uint32_t before = Get(figures.sequence);
    const uint32_t provider = Get(figures.provider);
    const bool said = provider != 0 && provider < kAllocatorProviders;
    if (before == 0 || before % 2 != 0 || !said) continue;
    const AllocatorSample sample = {static_cast<AllocatorProvider>(provider),
                                    Get(figures.time_ns) / 1'000'000,
                                    Known(figures.allocated_bytes),
                                    Known(figures.cached_bytes),
                                    Known(figures.free_bytes),
                                    Known(figures.metadata_bytes),
                                    Known(figures.live_bytes)};
    if (Get(figures.sequence) == before) return sample;
  }
  return {};
}

}  // namespace memprof
