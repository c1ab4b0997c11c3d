#include "core/region_reader.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/region_view.h"
#include "core/site_sums.h"

namespace memprof {
namespace {

constexpr int kReadTries = 5;
constexpr uint32_t kLongestPath = 4096;

// Nodes of the snapshot that the region has none for; the region's own follow.
constexpr uint32_t kNoStackNode = 1;
constexpr uint32_t kIncompleteNode = 2;

// Read once, so that what was checked is what is used.
template <typename Value>
Value Once(const Value& value) {
  return *const_cast<const volatile Value*>(&value);
}

std::string Hexadecimal(const uint8_t* bytes, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += fmt::format("{:02x}", bytes[i]);
  return text;
}

// Modules keep their indices, so that nodes can refer to them; one that isn't filled is empty.
void CopyModules(const RegionView& region, Snapshot& snapshot) {
  const uint32_t count = region.count(Table::kModules);
  const auto* records = region.Records<ModuleRecord>(Table::kModules);
  const char* strings = region.Records<char>(Table::kStrings);
  const uint64_t strings_bytes = region.count(Table::kStrings);
  for (uint32_t i = 0; i < count; ++i) {
    SnapshotModule module;
    if (records[i].end.load(std::memory_order_acquire) != 0) {
      const uint64_t offset = Once(records[i].path_offset);
      const uint64_t bytes = Once(records[i].path_bytes);
      if (offset <= strings_bytes && bytes <= strings_bytes - offset) {
        module.path.assign(strings + offset, std::min<uint64_t>(bytes, kLongestPath));
      }
      const size_t id_bytes =
          std::min<size_t>(Once(records[i].build_id_bytes), sizeof records[i].build_id);
      module.build_id = Hexadecimal(records[i].build_id, id_bytes);
    }
    snapshot.modules.push_back(std::move(module));
  }
}

// Nodes keep their order; Canonical() drops what is not used.
void CopyNodes(const RegionView& region, Snapshot& snapshot) {
  const uint32_t count = region.count(Table::kNodes);
  const auto* nodes = region.Records<NodeRecord>(Table::kNodes);
  const auto* modules = region.Records<ModuleRecord>(Table::kModules);
  snapshot.frames = {{kNoModule, kPcNoStack}, {kNoModule, kPcIncomplete}};
  snapshot.nodes = {{}, {0, 0}, {0, 1}};
  snapshot.frames.reserve(count + 1);
  snapshot.nodes.reserve(count + 2);
  for (uint32_t i = 1; i < count; ++i) {
    const uint64_t pc = nodes[i].pc.load(std::memory_order_acquire);
    const uint32_t parent = Once(nodes[i].parent);
    const uint32_t module = Once(nodes[i].module);
    const auto frame = static_cast<uint32_t>(snapshot.frames.size());
    const bool has_module = pc >= kFirstRealPc && module < snapshot.modules.size();
    snapshot.frames.push_back(has_module
                                  ? SnapshotFrame{module, pc - Once(modules[module].load_bias)}
                                  : SnapshotFrame{kNoModule, pc});
    snapshot.nodes.push_back({parent == 0  ? 0
                              : parent < i ? parent + kIncompleteNode
                                           : kIncompleteNode,
                              frame});
  }
}

void CopyNames(const RegionView& region, Snapshot& snapshot) {
  const uint32_t count = region.count(Table::kThreadNames);
  const auto* records = region.Records<ThreadNameRecord>(Table::kThreadNames);
  for (uint32_t i = 0; i < count; ++i) {
    char name[sizeof records[i].name];
    std::memcpy(name, records[i].name, sizeof name);
    snapshot.thread_names.emplace_back(name, strnlen(name, sizeof name));
  }
  if (snapshot.thread_names.empty()) snapshot.thread_names.emplace_back();
}

Count NotBelowZero(uint64_t bytes, uint64_t count) {
  return {bytes >> 63 != 0 ? 0 : bytes, count >> 63 != 0 ? 0 : count};
}

// While sampling the sizes' class is a part of the site.
SizeHistogram SizesOf(const SiteFigures& figures, const Count& total, uint32_t size_class,
                      Snapshot& snapshot) {
  SizeHistogram sizes;
  if (snapshot.tracker.sample_bytes != 0) {
    AddSizes(sizes, size_class, total);
  } else if (figures.sizes_unknown || SumSizes(figures.sizes) != total) {
    AddSizes(snapshot.other_sizes, figures.sizes);
  } else {
    sizes = figures.sizes;
  }
  return sizes;
}

AllocatorKind KnownKind(uint32_t kind) {
  return kind < kAllocatorKinds ? static_cast<AllocatorKind>(kind) : AllocatorKind::kUnknown;
}

void CopySites(const RegionView& region, const std::vector<SiteFigures>& figures,
               std::vector<LiveHistory> histories, Snapshot& snapshot) {
  const auto* records = region.Records<SiteRecord>(Table::kSites);
  const Count none;
  for (uint32_t i = 0; i < figures.size(); ++i) {
    const SiteFigures& f = figures[i];
    const Count peak = NotBelowZero(f.peak_bytes, f.peak_count);
    const Count live = NotBelowZero(f.live_bytes, f.live_count);
    const Count total = NotBelowZero(f.total_bytes, f.total_count);
    if (peak == none && live == none && total == none && histories[i].empty()) continue;
    const uint32_t node = records[i].node.load(std::memory_order_acquire);
    const uint32_t label = Once(records[i].label);
    const uint32_t name = ThreadNameOf(label);
    const uint32_t size_class = snapshot.tracker.sample_bytes != 0 ? SizeClassOf(label) : 0;
    const Count temporary = {std::min(f.temporary_bytes, total.bytes),
                             std::min(f.temporary_count, total.allocations)};
    const bool has_stack = node != 0 && uint64_t{node} + kIncompleteNode < snapshot.nodes.size();
    snapshot.sites.push_back({has_stack ? node + kIncompleteNode : kNoStackNode,
                              name < snapshot.thread_names.size() ? name : 0, peak, live, total,
                              size_class, KnownKind(KindOf(label)), temporary,
                              SizesOf(f, total, size_class, snapshot), std::move(histories[i])});
  }
}

uint64_t SaturatedSum(uint64_t a, uint64_t b) { return a + b < a ? ~uint64_t{0} : a + b; }

// `raced_bytes`: what rows may be off by since the read was no instant.
void CopyTrust(const RegionView& region, const PeakState& state, uint64_t raced_bytes,
               Snapshot& snapshot) {
  const RegionHeader& header = region.header();
  SnapshotTracker& tracker = snapshot.tracker;
  tracker.bytes = SaturatedSum(region.resident_bytes(), header.private_bytes);
  tracker.dropped_events = header.dropped_events;
  tracker.truncated_stacks = header.truncated_stacks;
  tracker.incomplete_stacks = header.incomplete_stacks;
  tracker.tables_full_events = header.tables_full_events;
  tracker.unknown_frees = header.unknown_frees;
  tracker.stop_reason = header.stop_reason;
  tracker.fork_children = header.fork_children;
  tracker.counter_peak_bytes = state.peak;
  const uint64_t rows = SumPeak(snapshot).bytes;
  tracker.unattributed_bytes = state.peak > rows ? state.peak - rows : 0;
  const uint64_t difference = state.peak > rows ? state.peak - rows : rows - state.peak;
  const uint64_t shared = std::min<uint64_t>(header.shared_bytes, state.peak);
  const uint64_t kept_back = std::min<uint64_t>(header.peak_slack_bound, kPeakMaxBytes);
  tracker.peak_bound_bytes =
      SaturatedSum(SaturatedSum(difference, shared), SaturatedSum(raced_bytes, kept_back));
  snapshot.program.rss_peak_bytes =
      std::max<uint64_t>(snapshot.program.rss_peak_bytes, header.rss_peak_bytes);
}

// The sums at one state of the ordering word.
struct Figures {
  PeakState state = {};
  SiteSums sums;
  bool exact = false;
  uint64_t raced_bytes = 0;  // what rows may be off by where they are not exact
};

Result<Figures> ReadOnce(RegionView& region) {
  const auto state = region.ReadPeak();
  if (!state) return tl::unexpected<Error>(state.error());
  const auto still = region.Refresh(*state);
  if (!still) return tl::unexpected<Error>(still.error());
  Figures figures = {*state, SumCells(region, *state), false, 0};
  const auto after = region.ReadPeak();
  if (!after) return tl::unexpected<Error>(after.error());
  // Below the peak events come and go without a change of its rows.
  figures.exact = *still && after->peak == state->peak && after->epoch == state->epoch &&
                  after->armed == state->armed;
  return figures;
}

Result<Figures> ReadFigures(RegionView& region) {
  auto before = ReadOnce(region);
  auto figures = before;
  for (int i = 1; i < kReadTries && figures && !figures->exact; ++i) {
    before = std::move(figures);
    figures = ReadOnce(region);
  }
  if (!figures || figures->exact) return figures;
  const auto after = ReadOnce(region);
  if (!after) return tl::unexpected<Error>(after.error());
  // A row is off by what events moved from before the read to after it, and in a cell that a later
  // epoch has overtaken by all of it; where it is shown and once more where it is missing.
  const uint64_t moved = after->sums.moved_bytes - before->sums.moved_bytes;
  figures->raced_bytes =
      2 * std::min(SaturatedSum(moved, figures->sums.later_bytes), kPeakMaxBytes);
  return figures;
}

}  // namespace

Result<Snapshot> ReadRegion(int fd, const SnapshotProgram& program, const RegionHistory& history) {
  auto region = RegionView::Open(fd);
  if (!region) return tl::unexpected<Error>(region.error());
  const auto figures = ReadFigures(*region);
  if (!figures) return tl::unexpected<Error>(figures.error());
  Snapshot snapshot;
  snapshot.program = program;
  snapshot.tracker.inexact_read = !figures->exact;
  snapshot.tracker.sample_bytes = Once(region->header().options.sample_bytes);
  const uint32_t threshold = Once(region->header().options.temporary_threshold);
  snapshot.tracker.temporary_threshold = std::clamp(threshold, 1u, kMaxTemporaryThreshold);
  CopyModules(*region, snapshot);
  CopyNodes(*region, snapshot);
  CopyNames(*region, snapshot);
  snapshot.other_sizes = figures->sums.other_sizes;
  snapshot.timeline = history.timeline;
  // The kernel's highest is not always up to date.
  for (const TimelinePoint& point : history.timeline.points) {
    snapshot.program.rss_peak_bytes =
        std::max(snapshot.program.rss_peak_bytes, point.rss_bytes.value_or(0));
  }
  snapshot.moments.interval_ms = history.moments_interval_ms;
  for (const RegionMoment& moment : history.moments) {
    snapshot.moments.at.push_back({moment.time_ms, moment.inexact});
  }
  CopySites(*region, figures->sums.sites,
            HistoriesBySite(history.moments, figures->sums.sites.size()), snapshot);
  CopyTrust(*region, figures->state, figures->raced_bytes, snapshot);
  return Canonical(snapshot);
}

bool IsRegion(int fd) {
  uint64_t magic = 0;
  return pread(fd, &magic, sizeof magic, 0) == static_cast<ssize_t>(sizeof magic) &&
         magic == kRegionMagic;
}

}  // namespace memprof
