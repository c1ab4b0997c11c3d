#include "core/region_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "core/region_view.h"

namespace memprof {
namespace {

constexpr int kReadTries = 5;
constexpr int kCellTries = 100;

// What one cell said, as one state.
struct CellFigures {
  uint64_t epoch;
  int64_t allocated_bytes, allocated_count, freed_bytes, freed_count, peak_bytes, peak_count;
};

CellFigures ReadCell(const Cell& cell) {
  CellFigures figures = {};
  for (int i = 0; i < kCellTries; ++i) {
    const uint32_t before = cell.sequence.load(std::memory_order_acquire);
    auto get = [](const std::atomic<uint64_t>& word) {
      return static_cast<int64_t>(word.load(std::memory_order_acquire));
    };
    figures = {cell.epoch.load(std::memory_order_acquire),
               get(cell.allocated_bytes),
               get(cell.allocated_count),
               get(cell.freed_bytes),
               get(cell.freed_count),
               cell.peak_bytes.load(std::memory_order_acquire),
               cell.peak_count.load(std::memory_order_acquire)};
    const uint32_t after = cell.sequence.load(std::memory_order_acquire);
    if (before == after && before % 2 == 0) break;
    // Odd for ever: its writer was killed inside an event, which is in flight.
  }
  return figures;
}

struct SiteFigures {
  int64_t peak_bytes = 0, peak_count = 0, live_bytes = 0, live_count = 0, total_bytes = 0,
          total_count = 0;
};

std::vector<SiteFigures> SumCells(const RegionView& region, const PeakState& state) {
  std::vector<SiteFigures> sites(region.count(Table::kSites));
  const CellChunk* chunks = region.Records<CellChunk>(Table::kCellChunks);
  for (uint32_t i = 0; i < region.count(Table::kCellChunks); ++i) {
    for (const Cell& cell : chunks[i].cells) {
      const uint32_t site = cell.site_plus_one.load(std::memory_order_acquire);
      if (site == 0 || site > sites.size()) continue;
      const CellFigures figures = ReadCell(cell);
      const int64_t live_bytes = figures.allocated_bytes - figures.freed_bytes;
      const int64_t live_count = figures.allocated_count - figures.freed_count;
      const bool kept = !state.armed && figures.epoch == state.epoch;
      SiteFigures& sum = sites[site - 1];
      sum.peak_bytes += kept ? figures.peak_bytes : live_bytes;
      sum.peak_count += kept ? figures.peak_count : live_count;
      sum.live_bytes += live_bytes;
      sum.live_count += live_count;
      sum.total_bytes += figures.allocated_bytes;
      sum.total_count += figures.allocated_count;
    }
  }
  return sites;
}

std::string Hexadecimal(const uint8_t* bytes, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += fmt::format("{:02x}", bytes[i]);
  return text;
}

// Modules keep their indices, so that nodes can refer to them; one that isn't filled is empty.
void CopyModules(const RegionView& region, Snapshot& snapshot) {
  const auto* records = region.Records<ModuleRecord>(Table::kModules);
  const char* strings = region.Records<char>(Table::kStrings);
  const uint64_t strings_bytes = region.count(Table::kStrings);
  for (uint32_t i = 0; i < region.count(Table::kModules); ++i) {
    SnapshotModule module;
    if (records[i].end.load(std::memory_order_acquire) != 0) {
      const uint64_t offset = records[i].path_offset;
      const uint64_t bytes = records[i].path_bytes;
      if (offset <= strings_bytes && bytes <= strings_bytes - offset) {
        module.path.assign(strings + offset, bytes);
      }
      const size_t id_bytes =
          std::min<size_t>(records[i].build_id_bytes, sizeof records[i].build_id);
      module.build_id = Hexadecimal(records[i].build_id, id_bytes);
    }
    snapshot.modules.push_back(std::move(module));
  }
}

SnapshotFrame FrameOf(const RegionView& region, uint64_t pc, uint32_t module) {
  if (pc < kFirstRealPc || module >= region.count(Table::kModules)) return {kNoModule, pc};
  const auto& record = region.Records<ModuleRecord>(Table::kModules)[module];
  return {module, pc - record.load_bias};
}

// Nodes keep their indices; Canonical() drops what is not used.
void CopyNodes(const RegionView& region, Snapshot& snapshot) {
  const auto* records = region.Records<NodeRecord>(Table::kNodes);
  snapshot.nodes.push_back({});
  snapshot.frames.push_back({kNoModule, kPcNoStack});
  for (uint32_t i = 1; i < region.count(Table::kNodes); ++i) {
    const uint64_t pc = records[i].pc.load(std::memory_order_acquire);
    const uint32_t parent = records[i].parent;
    snapshot.nodes.push_back({parent < i ? parent : 0, i});
    snapshot.frames.push_back(FrameOf(region, pc, records[i].module));
  }
}

void CopyNames(const RegionView& region, Snapshot& snapshot) {
  const auto* records = region.Records<ThreadNameRecord>(Table::kThreadNames);
  for (uint32_t i = 0; i < region.count(Table::kThreadNames); ++i) {
    snapshot.thread_names.emplace_back(records[i].name, strnlen(records[i].name, 16));
  }
  if (snapshot.thread_names.empty()) snapshot.thread_names.emplace_back();
}

Count NotBelowZero(int64_t bytes, int64_t count) {
  return {static_cast<uint64_t>(std::max<int64_t>(bytes, 0)),
          static_cast<uint64_t>(std::max<int64_t>(count, 0))};
}

void CopySites(const RegionView& region, const std::vector<SiteFigures>& figures,
               Snapshot& snapshot) {
  const auto* records = region.Records<SiteRecord>(Table::kSites);
  for (uint32_t i = 0; i < figures.size(); ++i) {
    const uint32_t node = records[i].node.load(std::memory_order_acquire);
    const uint32_t name = records[i].thread_name;
    const SiteFigures& f = figures[i];
    snapshot.sites.push_back(
        {node < snapshot.nodes.size() ? node : 0, name < snapshot.thread_names.size() ? name : 0,
         NotBelowZero(f.peak_bytes, f.peak_count), NotBelowZero(f.live_bytes, f.live_count),
         NotBelowZero(f.total_bytes, f.total_count)});
  }
}

void CopyTrust(const RegionView& region, const PeakState& state, Snapshot& snapshot) {
  const RegionHeader& header = region.header();
  SnapshotTracker& tracker = snapshot.tracker;
  tracker.bytes = region.resident_bytes() + header.private_bytes.load();
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
  tracker.peak_bound_bytes = difference + shared;
  snapshot.program.rss_peak_bytes =
      std::max<uint64_t>(snapshot.program.rss_peak_bytes, header.rss_peak_bytes);
}

}  // namespace

Result<Snapshot> ReadRegion(int fd, const SnapshotProgram& program) {
  auto opened = RegionView::Open(fd);
  if (!opened) return tl::unexpected<Error>(opened.error());
  const RegionView& region = *opened;
  Snapshot snapshot;
  snapshot.program = program;
  PeakState state = region.ReadPeak();
  std::vector<SiteFigures> figures;
  for (int i = 0;; ++i) {
    figures = SumCells(region, state);
    const PeakState after = region.ReadPeak();
    if (after == state) break;
    if (program.end_kind != EndKind::kRunning || i + 1 == kReadTries) {
      snapshot.tracker.inexact_read = true;
      break;
    }
    state = after;
  }
  CopyModules(region, snapshot);
  CopyNodes(region, snapshot);
  CopyNames(region, snapshot);
  CopySites(region, figures, snapshot);
  CopyTrust(region, state, snapshot);
  return Canonical(snapshot);
}

Result<PeakState> ReadPeak(int fd) {
  PackedPeak before;
  PackedPeak after;
  const auto offset = static_cast<off_t>(offsetof(RegionHeader, peak));
  for (int i = 0; i < kReadTries; ++i) {
    if (pread(fd, &before, sizeof before, offset) != static_cast<ssize_t>(sizeof before) ||
        pread(fd, &after, sizeof after, offset) != static_cast<ssize_t>(sizeof after)) {
      return Fail(ErrorKind::kUnreadable, "the region is cut short");
    }
    if (before == after) break;
  }
  return Unpack(after);
}

bool IsRegion(int fd) {
  uint64_t magic = 0;
  return pread(fd, &magic, sizeof magic, 0) == static_cast<ssize_t>(sizeof magic) &&
         magic == kRegionMagic;
}

}  // namespace memprof
