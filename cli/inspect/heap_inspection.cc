#include "cli/inspect/heap_inspection.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <future>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "cli/attach/function_table.h"
#include "cli/basics/proc_files.h"
#include "cli/basics/process_facts.h"
#include "cli/inspect/copy_memory.h"
#include "cli/inspect/frozen_copy.h"
#include "cli/inspect/root_finder.h"
#include "cli/inspect/split_memory.h"
#include "cli/supervisor/images/program_mark.h"
#include "core/base_name.h"
#include "core/inspect/inspection.h"
#include "core/inspect/object_types.h"
#include "core/inspect/pinned_pages.h"
#include "core/once.h"
#include "core/region/region_mappings.h"
#include "core/region/region_reader.h"
#include "core/region/region_sites.h"
#include "core/symbolizer/demangle.h"
#include "core/units.h"

namespace memprof {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr size_t kMostBlocks = size_t{1} << 31;

tl::unexpected<Error> Refused(std::string why) { return Fail(ErrorKind::kUsage, std::move(why)); }

std::string WhyNotWithin(pid_t pid) {
  return fmt::format(
      "process {} has its allocator in the program itself, whose own data can't be told from the "
      "program's: link the allocator dynamically to inspect it",
      pid);
}

// Why the heap of such a run can't be inspected; empty: it can.
std::string WhyNot(const RegionView& region, pid_t pid) {
  const RegionHeader& header = region.header();
  if (header.options.sample_bytes != 0) {
    return fmt::format(
        "process {} counts samples: most of its live blocks aren't known; run it without --sample",
        pid);
  }
  if (header.attached != 0) {
    return fmt::format(
        "process {} was attached to: the blocks from before aren't known; start it with memprof "
        "run",
        pid);
  }
  if (header.stop_reason != 0) {
    return fmt::format("process {}: the tracker has stopped: {}", pid,
                       WhyStopped(header.stop_reason));
  }
  if (header.heap.live_map == 0) return fmt::format("process {} counts nothing yet", pid);
  if (header.jemalloc_hooks == static_cast<uint32_t>(JemallocHooks::kInstalled)) {
    return WhyNotWithin(pid);
  }
  return {};
}

std::vector<std::string> NotesOn(const RegionHeader& header) {
  std::vector<std::string> notes;
  const auto add = [&notes](bool holds, std::string note) {
    if (holds) notes.push_back(std::move(note));
  };
  add(header.bypasses != 0,
      "some allocations are not counted (modules with an allocator of their own): what only they "
      "hold "
      "is called lost");
  add(header.dropped_events != 0,
      fmt::format(
          "{} events were dropped: blocks are missing, and what only they hold is called lost",
          FormatCount(header.dropped_events)));
  add(header.options.mappings == 0,
      "mappings were not followed (--no-mappings): what only they hold may be called lost");
  return notes;
}

// What the program mapped itself and may write; without what is only reserved, and without shared
// memory, which isn't in a copy.
std::vector<AddressRange> MappedRanges(const RegionView& region) {
  std::vector<AddressRange> ranges;
  for (const LiveRange& range : ReadRanges(region)) {
    if (range.what.kind != MappingKind::kShared) ranges.push_back({range.start, range.end});
  }
  return ranges;
}

// The module other than libc that defines malloc; empty: there is none.
std::string AllocatorOf(pid_t pid, const std::vector<SpaceModule>& modules) {
  const std::string root = ProcPath(pid, "root");
  for (const SpaceModule& module : modules) {
    const std::string_view name = BaseName(module.path);
    if (name.starts_with("libc.so.6") || name.starts_with("ld-") ||
        name.starts_with("libmemprof_")) {
      continue;
    }
    if (FunctionTable(root + module.path, module.begin).Find("malloc") != 0) return module.path;
  }
  return {};
}

// An allocator's library holds its own blocks by its data, which isn't looked at.
Root BlocksOfAllocator(pid_t pid, const std::string& allocator,
                       const std::vector<LiveBlock>& blocks, const RegionSites& sites) {
  Root root = {fmt::format("blocks of {}", BaseName(allocator)), {}, {}};
  const Snapshot& snapshot = sites.snapshot();
  // The loader may know the file by a link to it.
  const std::string folder = ProcPath(pid, "root");
  std::vector<bool> is_allocator;
  for (const SnapshotModule& module : snapshot.modules) {
    std::error_code error;
    is_allocator.push_back(
        !module.path.empty() &&
        std::filesystem::equivalent(folder + module.path, folder + allocator, error));
  }
  std::vector<bool> is_its(snapshot.sites.size(), false);
  for (size_t i = 0; i < is_its.size(); ++i) {
    const SnapshotFrame& frame = snapshot.frames[snapshot.nodes[snapshot.sites[i].node].frame];
    is_its[i] = frame.module < is_allocator.size() && is_allocator[frame.module];
  }
  for (const LiveBlock& block : blocks) {
    const uint32_t site = sites.SiteOfCell(block.cell);
    if (!block.inherited && site < is_its.size() && is_its[site])
      root.words.push_back(block.address);
  }
  return root;
}

SnapshotProgram ProgramOf(const ShownProcess& process) {
  SnapshotProgram program;
  program.program = process.program;
  program.pid = static_cast<uint32_t>(process.pid);
  program.start_unix_ms = process.start_unix_ms;
  return program;
}

struct Look {
  Inspection found;
  std::vector<std::string> roots;
  std::chrono::microseconds pause{0};
  std::optional<RegionSites> sites;
  std::vector<PinnedPages> pages;  // by node of the sites' snapshot
  std::vector<std::string> types;  // by site of it: mangled names
  bool has_uncopied = false;
};

// Why no pointers are followed into what a copy has; empty: they are.
std::string WhyNotFollowed(const MemorySource& memory, const RegionHeader& header, pid_t pid) {
  const auto pools = ReadLiveMap(memory, header.heap.pool_map);
  if (pools && pools->empty()) return {};
  return fmt::format(
      "process {} has memory pools (memprof.h): pointers within them aren't followed yet", pid);
}

// The pages of each node of the sites' snapshot.
std::vector<PinnedPages> PagesByNode(const MemorySource& memory, const Slabs& slabs,
                                     const std::vector<LiveBlock>& blocks,
                                     const RegionSites& sites) {
  const Snapshot& snapshot = sites.snapshot();
  return FindPinnedPages(memory, slabs, blocks, static_cast<uint32_t>(snapshot.nodes.size()),
                         [&](uint32_t i) -> uint32_t {
                           const LiveBlock& block = blocks[i];
                           const uint32_t site =
                               block.inherited ? kNoSite : sites.SiteOfCell(block.cell);
                           return site < snapshot.sites.size() ? snapshot.sites[site].node : 0;
                         });
}

// Where modules have what their files say, by address.
std::vector<AddressRange> RangesOfModules(const RootFacts& facts) {
  std::set<std::string_view> paths;
  for (const SpaceModule& module : facts.modules) paths.insert(module.path);
  std::vector<AddressRange> ranges;
  for (const SpaceMapping& mapping : facts.mappings) {
    if (mapping.readable && !mapping.shared && paths.count(mapping.name) != 0) {
      ranges.push_back(mapping.range);
    }
  }
  return ranges;
}

std::vector<std::string> TypesBySite(const MemorySource& memory, const CopyMemory& copied,
                                     const RootFacts& facts, const std::vector<LiveBlock>& blocks,
                                     const RegionSites& sites) {
  const auto all = static_cast<uint32_t>(sites.snapshot().sites.size());
  return FindObjectTypes(
      memory, MappedFiles(copied), RangesOfModules(facts), blocks, all + 1, [&](uint32_t i) {
        const LiveBlock& block = blocks[i];
        const uint32_t site = block.inherited ? kNoSite : sites.SiteOfCell(block.cell);
        return std::min(site, all);  // the last one: those that aren't known
      });
}

// `before`: what the look before found lost; null: this is the first. The last look alone has roots'
// names, paths and pages.
Result<Look> TakeLook(const ShownProcess& process, FrozenBy how,
                      const std::vector<LostBlock>* before, bool is_last) {
  auto copy = FrozenCopy::Take(process.pid, how);
  if (!copy) return tl::unexpected<Error>(copy.error());
  auto copied = CopyMemory::Open(copy->pid());
  if (!copied) return tl::unexpected<Error>(copied.error());
  auto going_on = CopyMemory::Open(process.pid);
  if (!going_on) return tl::unexpected<Error>(going_on.error());
  RootFacts facts;
  facts.mappings = MappingsOf(copy->pid());
  std::vector<AddressRange> elsewhere;
  if (how == FrozenBy::kCopying) elsewhere = NotInCopy(process.pid, facts.mappings);
  const SplitMemory memory(*copied, *going_on, elsewhere);
  // The region is shared, and goes on. Sites and cells that were there are still the same.
  auto sites = RegionSites::Read(process.region, ProgramOf(process));
  if (!sites) return tl::unexpected<Error>(sites.error());
  const RegionHeader& header = sites->region().header();
  if (HasMapped(copy->pid(), process.region.fd) == false) {
    return Refused(fmt::format("process {} has executed another program", process.pid));
  }
  std::string why = WhyNot(sites->region(), process.pid);
  if (why.empty()) why = WhyNotFollowed(memory, header, process.pid);
  if (!why.empty()) return Refused(std::move(why));
  const auto blocks = ReadLiveBlocks(memory, header.heap);
  if (!blocks) return tl::unexpected<Error>(blocks.error());
  if (blocks->size() > kMostBlocks) return Refused("the program has too many live blocks");

  facts.modules = ModulesOf(facts.mappings, MappedFiles(*copied));
  facts.threads = copy->threads();
  facts.mapped = MappedRanges(sites->region());
  facts.allocator = AllocatorOf(process.pid, facts.modules);
  facts.executable = ProcLink(copy->pid(), "exe");
  facts.program = process.program;
  if (!facts.allocator.empty() && facts.allocator == facts.executable) {
    return Refused(WhyNotWithin(process.pid));
  }
  if (!blocks->empty()) {
    facts.blocks = {blocks->front().address, blocks->back().address + blocks->back().size};
  }
  if (is_last) {
    const std::string root_folder = ProcPath(process.pid, "root");
    for (SpaceModule& module : facts.modules) {
      module.symbols = DataSymbolsOf(root_folder + module.path, module.begin);
    }
  }
  facts.thread_state = Once(header.heap.thread_state);
  facts.thread_state_bytes = std::min<uint64_t>(Once(header.heap.thread_state_bytes), 4096);
  std::vector<Root> roots = FindRoots(facts, memory);
  if (!facts.allocator.empty()) {
    roots.push_back(BlocksOfAllocator(process.pid, facts.allocator, *blocks, *sites));
  }

  Look look;
  const Slabs slabs(BaseName(facts.allocator));
  InspectOptions options;
  options.threads = std::clamp(std::thread::hardware_concurrency(), 1u, 4u);
  options.lost_before = before;
  options.holders = is_last;
  std::future<std::vector<PinnedPages>> pages;
  std::future<std::vector<std::string>> types;
  if (is_last) {
    pages =
        std::async(std::launch::async, [&] { return PagesByNode(memory, slabs, *blocks, *sites); });
    types = std::async(std::launch::async,
                       [&] { return TypesBySite(memory, *copied, facts, *blocks, *sites); });
  }
  look.found = Inspect(
      memory, *blocks, roots, [&](uint32_t cell) { return sites->SiteOfCell(cell); }, options);
  if (is_last) {
    look.pages = pages.get();
    look.types = types.get();
  }
  for (const Root& root : roots) look.roots.push_back(root.name);
  const bool ended = copy->End();
  look.pause = copy->pause();
  if (!ended) {
    return Fail(
        ErrorKind::kIo,
        fmt::format("process {} could not be stopped again to give its copy up: a zombie stays "
                    "in it until it waits for all its children, or ends",
                    process.pid));
  }
  look.has_uncopied = !elsewhere.empty();
  look.sites.emplace(std::move(*sites));
  return look;
}

// With the nodes of `stacks`.
SnapshotInspection RecordOf(Look& look, const Snapshot& stacks) {
  SnapshotInspection record;
  std::map<std::string_view, uint32_t> numbers;  // of types
  const auto number_of = [&](const std::string& type) -> uint32_t {
    if (type.empty()) return 0;
    const auto [at, is_new] = numbers.try_emplace(type, 0);
    if (is_new) {
      record.types.push_back(DemangleType(type));
      at->second = static_cast<uint32_t>(record.types.size());
    }
    return at->second;
  };
  for (const InspectedSite& site : look.found.sites) {
    const bool is_known = site.site < stacks.sites.size();
    const uint32_t node = is_known ? stacks.sites[site.site].node : 0;
    // Several sites may have one stack, whose pages are the first one's.
    const PinnedPages pages = std::exchange(look.pages[node], {});
    record.rows.push_back({node, site.figures, pages.alone_bytes, pages.free_bytes,
                           is_known ? number_of(look.types[site.site]) : 0});
  }
  record.roots = std::move(look.roots);
  record.paths = std::move(look.found.paths);
  record.retained = std::move(look.found.retained);
  return record;
}

uint64_t Since(int64_t start_unix_ms) {
  const int64_t now =
      std::chrono::duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  return static_cast<uint64_t>(std::max<int64_t>(now - start_unix_ms, 0));
}

const ShownProcess* ProcessOf(const ShownRun& run, pid_t pid) {
  for (const ShownProcess& process : run.processes) {
    if (pid == 0 || process.pid == pid) return &process;
  }
  return nullptr;
}

uint64_t KiBytesOf(pid_t pid, const char* name) {
  const std::string text = ProcText(pid, "smaps_rollup");
  const size_t at = text.find(std::string("\n") + name + ":");
  return at == std::string::npos
             ? 0
             : std::strtoull(text.c_str() + text.find(':', at) + 1, nullptr, 10);
}

size_t CountMappings(pid_t pid) {
  ProcessMaps maps(pid);
  size_t count = 0;
  for (std::string line; maps.Next(line);) ++count;
  return count;
}

}  // namespace

milliseconds ExpectedPause(pid_t process, FrozenBy how) {
  constexpr double kMillisecondsAGiB = 22;  // of small pages
  constexpr double kMillisecondsAHugeGiB = 3;
  constexpr double kGiB = 1 << 20;  // in KiB
  constexpr double kMillisecondsAMapping = 0.001;
  // Mostly what follows pointers, so it depends on the number of blocks.
  constexpr double kLeastStop = 50;
  constexpr double kStopAGiB = 3000;
  const auto all = static_cast<double>(KiBytesOf(process, "Rss"));
  const auto huge = static_cast<double>(KiBytesOf(process, "AnonHugePages"));
  if (all == 0) return milliseconds(0);
  if (how == FrozenBy::kStopping) {
    return milliseconds(static_cast<int64_t>(kLeastStop + all / kGiB * kStopAGiB));
  }
  const double expected = 3 + std::max(all - huge, 0.0) / kGiB * kMillisecondsAGiB +
                          huge / kGiB * kMillisecondsAHugeGiB +
                          static_cast<double>(CountMappings(process)) * kMillisecondsAMapping;
  return milliseconds(static_cast<int64_t>(expected));
}

Result<HeapInspection> InspectHeap(const FoundRun& run, pid_t pid,
                                   const HeapInspectionOptions& options) {
  const ShownProcess* process = ProcessOf(run.run, pid);
  if (process == nullptr) {
    return Refused(pid == 0 ? "the run's program doesn't count (any more)"
                            : fmt::format("process {} is none of the run's that count now", pid));
  }
  return InspectHeap(*process, options);
}

Result<HeapInspection> InspectHeap(const ShownProcess& shown,
                                   const HeapInspectionOptions& options) {
  const ShownProcess* const process = &shown;
  {
    // Before the program is stopped, so that it isn't for nothing.
    const auto region = RegionView::Open(process->region);
    if (!region) return tl::unexpected<Error>(region.error());
    if (std::string why = WhyNot(*region, process->pid); !why.empty()) return Refused(why);
  }
  const milliseconds expected = ExpectedPause(process->pid, options.how);
  if (expected > options.longest_pause) {
    return Refused(fmt::format(
        "process {} would stand for about {}; allow that with --max-pause {}ms", process->pid,
        FormatDuration(static_cast<uint64_t>(expected.count())), expected.count() * 2));
  }
  if (options.say) {
    options.say(fmt::format("stopping {} {} for about {}, {} times", process->program, process->pid,
                            FormatDuration(static_cast<uint64_t>(expected.count())),
                            options.looks));
  }
  const auto since = steady_clock::now();
  std::vector<LostBlock> before;
  std::optional<Look> last;
  std::chrono::microseconds longest_pause{0};
  for (unsigned i = 0; i < options.looks; ++i) {
    if (i != 0) std::this_thread::sleep_for(options.between_looks);
    auto look = TakeLook(*process, options.how, i == 0 ? nullptr : &before, i + 1 == options.looks);
    if (!look) return tl::unexpected<Error>(look.error());
    before = look->found.lost;
    longest_pause = std::max(longest_pause, look->pause);
    last.emplace(std::move(*look));
  }
  if (!last) return Refused("no look was asked for");
  Snapshot stacks = last->sites->snapshot();
  SnapshotInspection found = RecordOf(*last, stacks);
  found.looks = options.looks;
  found.time_ms = Since(process->start_unix_ms);
  found.longest_pause_us = static_cast<uint64_t>(longest_pause.count());
  found.took_ms = static_cast<uint64_t>(
      std::chrono::duration_cast<milliseconds>(steady_clock::now() - since).count());
  found.notes = NotesOn(last->sites->region().header());
  if (last->has_uncopied) {
    found.notes.emplace_back(
        "memory that is kept out of copies (MADV_DONTFORK, MADV_WIPEONFORK) was read while the "
        "program "
        "went on");
  }
  // Only the stacks in use are kept, since finding names takes time.
  stacks.sites.clear();
  stacks.inspection = found;
  return HeapInspection{*process, Canonical(std::move(stacks)), std::move(found)};
}

Result<CanonicalSnapshot> HeapInspection::Capture() const {
  RegionHistory history;
  history.inspection = found;
  return ReadRegion(process.region, ProgramOf(process), history);
}

}  // namespace memprof
