#include "core/region/region_reader.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/once.h"
#include "core/protocol/sample_weight.h"
#include "core/region/region_mappings.h"
#include "core/region/region_named_moments.h"
#include "core/region/region_origin.h"
#include "core/region/region_python.h"
#include "core/region/region_sites.h"
#include "core/region/region_view.h"
#include "core/region/running_threads.h"
#include "core/region/site_sums.h"
#include "core/region/within_memory.h"
#include "core/saturated_sum.h"

namespace memprof {
namespace {

constexpr int kReadTries = 5;
constexpr uint32_t kLongestModulePath = 4096;
constexpr uint16_t kDeepestNode = kMaxFrames + kMaxPythonFrames + 8;

// Nodes of the snapshot that don't exist in the region; the region's own follow.
constexpr uint32_t kNoStackNode = 1;
constexpr uint32_t kIncompleteNode = 2;

std::string Hexadecimal(const uint8_t* bytes, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += fmt::format("{:02x}", bytes[i]);
  return text;
}

// Modules keep their indices, so that nodes can refer to them; one that isn't filled stays empty.
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
        module.path.assign(strings + offset, std::min<uint64_t>(bytes, kLongestModulePath));
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
  // No stack is deeper than kMaxFrames and kMaxPythonFrames plus its marks. A hostile chain of all nodes under many
  // sites would be walked once for each site.
  std::vector<uint16_t> depths(count, 0);
  RegionPython python(region, snapshot);
  for (uint32_t i = 1; i < count; ++i) {
    const uint64_t pc = nodes[i].pc.load(std::memory_order_acquire);
    const uint32_t parent = Once(nodes[i].parent);
    const uint32_t module = Once(nodes[i].module);
    const auto frame = static_cast<uint32_t>(snapshot.frames.size());
    const bool has_module = pc >= kFirstRealPc && module < snapshot.modules.size();
    snapshot.frames.push_back(IsPythonWord(pc) ? python.FrameOf(pc)
                              : has_module
                                  ? SnapshotFrame{module, pc - Once(modules[module].load_bias)}
                                  : SnapshotFrame{kNoModule, pc});
    const bool follows = parent < i && depths[parent] < kDeepestNode;
    if (follows) depths[i] = static_cast<uint16_t>(depths[parent] + 1);
    snapshot.nodes.push_back({!follows      ? kIncompleteNode
                              : parent == 0 ? 0
                                            : parent + kIncompleteNode,
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

// While sampling, the size class is a part of the site.
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

// Which sites' live blocks come from threads that still ran at the end. A sample says nothing for
// certain about the blocks that were not sampled.
std::vector<bool> RunningAtEnd(const RegionView& region, size_t sites, const Snapshot& snapshot) {
  const bool is_known = !IsUnended(snapshot.program.end_kind) &&
                        snapshot.tracker.sample_bytes == 0 && region.header().stop_reason == 0;
  return is_known ? SitesOfRunningThreads(region, sites) : std::vector<bool>(sites, false);
}

void CopySites(const RegionView& region, const std::vector<SiteFigures>& figures,
               std::vector<LiveHistory> histories, std::vector<LiveHistory> named,
               Snapshot& snapshot) {
  const std::vector<bool> running = RunningAtEnd(region, figures.size(), snapshot);
  const auto* records = region.Records<SiteRecord>(Table::kSites);
  const Count none;
  const auto* nodes = region.Records<NodeRecord>(Table::kNodes);
  for (uint32_t i = 0; i < figures.size(); ++i) {
    const SiteFigures& f = figures[i];
    const Count peak = NotBelowZero(f.peak_bytes, f.peak_count);
    Count live = NotBelowZero(f.live_bytes, f.live_count);
    Count total = NotBelowZero(f.total_bytes, f.total_count);
    const uint32_t row = records[i].node.load(std::memory_order_acquire);
    // The process did not allocate the blocks that it inherited, and need not free them.
    if (row < region.count(Table::kNodes) &&
        nodes[row].pc.load(std::memory_order_acquire) == kPcInherited) {
      live = total = none;
    }
    if (peak == none && live == none && total == none && histories[i].empty() && named[i].empty()) {
      continue;
    }
    const uint32_t node = records[i].node.load(std::memory_order_acquire);
    const uint32_t label = Once(records[i].label);
    const uint32_t name = ThreadNameOf(label);
    const uint32_t size_class =
        snapshot.tracker.sample_bytes != 0 ? std::min(SizeClassOf(label), kLargestSizeClass) : 0;
    const Count temporary = {std::min(f.temporary_bytes, total.bytes),
                             std::min(f.temporary_count, total.allocations)};
    const bool has_stack = node != 0 && uint64_t{node} + kIncompleteNode < snapshot.nodes.size();
    snapshot.sites.push_back({has_stack ? node + kIncompleteNode : kNoStackNode,
                              name < snapshot.thread_names.size() ? name : 0, peak, live, total,
                              size_class, KnownKind(KindOf(label)), temporary,
                              SizesOf(f, total, size_class, snapshot), std::move(histories[i]),
                              std::move(named[i]), running[i] && live != none});
  }
}

void CopyMappings(const RegionView& region, const std::vector<RegionMoment>& moments,
                  Snapshot& snapshot) {
  const auto* records = region.Records<SiteRecord>(Table::kSites);
  const auto place = [&](uint32_t site) {
    const bool known = site < region.count(Table::kSites);
    const uint64_t node = known ? records[site].node.load(std::memory_order_acquire) : 0;
    const uint32_t name = known ? ThreadNameOf(Once(records[site].label)) : 0;
    const bool has_stack = node != 0 && node + kIncompleteNode < snapshot.nodes.size();
    return std::pair(has_stack ? static_cast<uint32_t>(node) + kIncompleteNode : kNoStackNode,
                     name < snapshot.thread_names.size() ? name : 0);
  };
  snapshot.mappings =
      ReadMappings(region, place, HistoriesByMapping(moments, region.count(Table::kMappingSites)));
}

// Returns their moments.
std::vector<RegionMoment> CopyNamed(const RegionView& region, const RegionHistory& history,
                                    Snapshot& snapshot) {
  std::vector<RegionMoment> moments;
  snapshot.named.left_out = history.named_left_out;
  for (const NamedRegionMoment& named : AllNamed(region, history.named, snapshot.named.left_out)) {
    snapshot.named.taken.push_back({named.name, named.moment.time_ms, named.moment.inexact});
    moments.push_back(named.moment);
  }
  return moments;
}

// `raced_bytes`: how much rows may be off because events raced the read.
void CopyTrust(const RegionView& region, const PeakState& state, uint64_t raced_bytes,
               Snapshot& snapshot) {
  const RegionHeader& header = region.header();
  SnapshotTracker& tracker = snapshot.tracker;
  tracker.bytes = SaturatedSum<uint64_t>(region.resident_bytes(), header.private_bytes);
  tracker.dropped_events = header.dropped_events;
  tracker.truncated_stacks = header.truncated_stacks;
  tracker.incomplete_stacks = header.incomplete_stacks;
  tracker.tables_full_events = header.tables_full_events;
  tracker.unknown_frees = header.unknown_frees;
  tracker.unnamed_frames = header.unnamed_frames;
  tracker.unread_python = header.python_unread;
  if (header.attached != 0) {  // without a tracker that was attached these words mean nothing
    tracker.attached = 1;
    tracker.before_attach_frees = header.before_attach_frees;
    tracker.before_attach_bytes = header.before_attach_bytes;
  }
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

std::vector<Unseen> BypassesOf(const RegionHeader& header, const std::string& program) {
  std::vector<Unseen> bypasses;
  const uint32_t which = header.bypasses;
  if ((which & kDeepBound) != 0) {
    bypasses.push_back({Unseen::Kind::kAllocator, kOfDeepBoundModules, program, 1});
  }
  if ((which & kOtherNamespace) != 0) {
    bypasses.push_back({Unseen::Kind::kAllocator, kOfOtherNamespaces, program, 1});
  }
  return bypasses;
}

// The sums at one state of the ordering word.
struct StateSums {
  PeakState state = {};
  SiteSums sums;
  bool exact = false;
  uint64_t raced_bytes = 0;       // error bound of the rows if they are not exact
  uint64_t kept_bound_bytes = 0;  // … and that of the kept peak's rows
};

// The run's highest segment has ended: its rows replace those from the cells.
void TakeKeptRows(const RegionView& region, const RegionView::KeptRows& kept, StateSums& figures) {
  const PeakRow* rows = region.Records<PeakRow>(Table::kPeakRows) + kept.first;
  std::vector<SiteFigures>& sites = figures.sums.sites;
  for (uint32_t i = 0; i < sites.size(); ++i) {
    const bool has = i < kept.sites;
    auto get = [&](const std::atomic<int64_t>& word) {
      return has ? static_cast<uint64_t>(word.load(std::memory_order_relaxed)) : 0;
    };
    sites[i].peak_bytes = get(rows[i].bytes);
    sites[i].peak_count = get(rows[i].count);
  }
  figures.state.peak = kept.peak;
  figures.kept_bound_bytes = kept.bound_bytes;
}

Result<StateSums> ReadSums(RegionView& region) {
  const auto state = region.ReadWord();
  if (!state) return tl::unexpected<Error>(state.error());
  const auto still = region.Refresh(*state);
  if (!still) return tl::unexpected<Error>(still.error());
  StateSums figures = {*state, SumCells(region, *state), false, 0, 0};
  const RegionView::KeptRows kept = region.ValidRows();
  const bool is_kept = kept.generation != 0 && kept.peak >= state->peak;
  if (is_kept) TakeKeptRows(region, kept, figures);
  const auto after = region.ReadWord();
  if (!after) return tl::unexpected<Error>(after.error());
  const auto generation = region.ReadKeptGeneration();
  if (!generation) return tl::unexpected<Error>(generation.error());
  // Below the peak, events don't change the peak's rows.
  const bool stands =
      after->peak == state->peak && after->epoch == state->epoch && after->armed == state->armed;
  figures.exact =
      *still && *generation == kept.generation && (is_kept ? after->peak <= kept.peak : stands);
  return figures;
}

Result<StateSums> ReadFigures(RegionView& region) {
  auto figures = ReadSums(region);
  uint64_t moved_before = figures ? figures->sums.moved_bytes : 0;
  for (int i = 1; i < kReadTries && figures && !figures->exact; ++i) {
    moved_before = figures->sums.moved_bytes;
    figures = ReadSums(region);
  }
  if (!figures || figures->exact) return figures;
  const auto after = ReadSums(region);
  if (!after) return tl::unexpected<Error>(after.error());
  // A row may be off by all that events moved between the two reads. In a cell that has events of a
  // later epoch it may be off by all its bytes, and twice: where they are shown and where they are
  // missing. (Or the kept rows, which are all that is shown, were replaced meanwhile.)
  const uint64_t moved = after->sums.moved_bytes - moved_before;
  figures->raced_bytes =
      2 * std::min(SaturatedSum(moved, figures->sums.later_bytes), kPeakMaxBytes);
  return figures;
}

Result<CanonicalSnapshot> ReadAll(const RegionPlace& place, const SnapshotProgram& program,
                                  const RegionHistory& history) {
  auto region = RegionView::Open(place);
  if (!region) return tl::unexpected<Error>(region.error());
  if (const std::string trouble = TroubleOf(*region); !trouble.empty()) {
    return Fail(ErrorKind::kUnreadable, "nothing was counted: " + trouble);
  }
  const auto figures = ReadFigures(*region);
  if (!figures) return tl::unexpected<Error>(figures.error());
  Snapshot snapshot;
  snapshot.program = program;
  TellOrigin(*region, snapshot.program);
  snapshot.tracker.inexact_read = !figures->exact;
  snapshot.tracker.sample_bytes = Once(region->header().options.sample_bytes);
  const uint32_t threshold = Once(region->header().options.temporary_threshold);
  snapshot.tracker.temporary_threshold = std::clamp(threshold, 1u, kMaxTemporaryThreshold);
  CopyModules(*region, snapshot);
  CopyNodes(*region, snapshot);
  CopyNames(*region, snapshot);
  snapshot.other_sizes = figures->sums.other_sizes;
  snapshot.timeline = history.timeline;
  // The kernel's maximum is not always up to date.
  for (const TimelinePoint& point : history.timeline.points) {
    snapshot.program.rss_peak_bytes =
        std::max(snapshot.program.rss_peak_bytes, point.rss_bytes.value_or(0));
  }
  snapshot.moments.interval_ms = history.moments_interval_ms;
  for (const RegionMoment& moment : history.moments) {
    snapshot.moments.at.push_back({moment.time_ms, moment.inexact});
  }
  CopySites(
      *region, figures->sums.sites, HistoriesBySite(history.moments, figures->sums.sites.size()),
      HistoriesBySite(CopyNamed(*region, history, snapshot), figures->sums.sites.size()), snapshot);
  CopyMappings(*region, history.moments, snapshot);
  snapshot.memory = history.memory;
  snapshot.inspection = history.inspection;
  for (InspectedRow& row : snapshot.inspection.rows) {
    if (row.node >= snapshot.nodes.size()) row.node = kNoStackNode;  // the region has been changed
  }
  snapshot.unseen = history.unseen;
  AddUnseen(snapshot.unseen, BypassesOf(region->header(), snapshot.program.program));
  CopyTrust(*region, figures->state, SaturatedSum(figures->raced_bytes, figures->kept_bound_bytes),
            snapshot);
  return Canonical(std::move(snapshot));
}

Snapshot SitesWithoutFigures(const RegionView& region, const SnapshotProgram& program) {
  Snapshot snapshot;
  snapshot.program = program;
  TellOrigin(region, snapshot.program);
  CopyModules(region, snapshot);
  CopyNodes(region, snapshot);
  CopyNames(region, snapshot);
  const auto* records = region.Records<SiteRecord>(Table::kSites);
  for (uint32_t i = 0; i < region.count(Table::kSites); ++i) {
    const uint32_t node = records[i].node.load(std::memory_order_acquire);
    const uint32_t label = Once(records[i].label);
    const uint32_t name = ThreadNameOf(label);
    SnapshotSite site;
    const bool has_stack = node != 0 && uint64_t{node} + kIncompleteNode < snapshot.nodes.size();
    site.node = has_stack ? node + kIncompleteNode : kNoStackNode;
    site.thread_name = name < snapshot.thread_names.size() ? name : 0;
    site.kind = KnownKind(KindOf(label));
    snapshot.sites.push_back(std::move(site));
  }
  return snapshot;
}

}  // namespace

Result<RegionSites> RegionSites::Read(const RegionPlace& place, const SnapshotProgram& program) {
  return WithinMemory([&]() -> Result<RegionSites> {
    auto region = RegionView::Open(place);
    if (!region) return tl::unexpected<Error>(region.error());
    const auto state = region->ReadWord();
    if (!state) return tl::unexpected<Error>(state.error());
    const auto copied = region->Refresh(*state);
    if (!copied) return tl::unexpected<Error>(copied.error());
    Snapshot snapshot = SitesWithoutFigures(*region, program);
    return RegionSites(std::move(*region), std::move(snapshot));
  });
}

uint32_t RegionSites::SiteOfCell(uint32_t cell) const {
  if (cell / kCellsPerChunk >= region_.capacity(Table::kCellChunks)) return ~uint32_t{0};
  const CellChunk& chunk = region_.Records<CellChunk>(Table::kCellChunks)[cell / kCellsPerChunk];
  const uint32_t site_plus_one =
      chunk.cells[cell % kCellsPerChunk].site_plus_one.load(std::memory_order_acquire);
  return site_plus_one - 1 < snapshot_.sites.size() ? site_plus_one - 1 : ~uint32_t{0};
}

Result<CanonicalSnapshot> ReadRegion(const RegionPlace& place, const SnapshotProgram& program,
                                     const RegionHistory& history) {
  return WithinMemory([&] { return ReadAll(place, program, history); });
}

uint32_t ReadHeaderWord(const RegionPlace& place, size_t offset) {
  uint32_t word = 0;
  const ssize_t n = pread(place.fd, &word, sizeof word, static_cast<off_t>(place.offset + offset));
  return n == static_cast<ssize_t>(sizeof word) ? word : 0;
}

bool IsRegion(int fd) {
  uint64_t magic = 0;
  return pread(fd, &magic, sizeof magic, 0) == static_cast<ssize_t>(sizeof magic) &&
         magic == kRegionMagic;
}

}  // namespace memprof
