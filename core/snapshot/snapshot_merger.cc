#include "core/snapshot/snapshot_merger.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/saturated_sum.h"
#include "core/snapshot/history_alignment.h"
#include "core/snapshot/sampling.h"

namespace memprof {
namespace {

constexpr char kSeveralPrograms[] = "several programs";

std::string FiguresText(uint64_t sample_bytes) {
  return sample_bytes == 0 ? "exact"
                           : fmt::format("estimates of samples {} bytes apart", sample_bytes);
}

// Returns the value's index; appends the value if it is new.
template <typename Key, typename Table, typename Value>
uint32_t PlaceIn(Table& table, Key key, std::vector<Value>& values, const Value& value) {
  const auto [at, fresh] = table.emplace(std::move(key), static_cast<uint32_t>(values.size()));
  if (fresh) values.push_back(value);
  return at->second;
}

std::string NameOf(const SnapshotSource& source) {
  return fmt::format("{} (pid {}, run {:016x})", source.program.program, source.program.pid,
                     source.program.run_id);
}

size_t ChangesIn(const Snapshot& snapshot) {
  size_t changes = 0;
  for (const SnapshotSite& site : snapshot.sites) changes += site.history.size();
  for (const SnapshotMapping& row : snapshot.mappings.rows) changes += row.history.size();
  return changes;
}

}  // namespace

std::string MergeKey(const SnapshotModule& module) {
  return module.build_id.empty() ? "path " + module.path : module.build_id;
}

size_t SnapshotMerger::Hash::operator()(const SiteKey& key) const {
  uint64_t mixed = (uint64_t{key.node} << 32 | key.thread_name) * 0x9e3779b97f4a7c15u;
  mixed ^= (uint64_t{key.size_class} << 8 | static_cast<uint64_t>(key.kind)) * 0xff51afd7ed558ccdu;
  return mixed ^ mixed >> 32;
}

size_t SnapshotMerger::Hash::operator()(const SnapshotFrame& frame) const {
  const uint64_t mixed = (frame.offset ^ uint64_t{frame.module} << 40) * 0x9e3779b97f4a7c15u;
  return mixed ^ mixed >> 32;
}

SnapshotMerger::SnapshotMerger(size_t most_changes, size_t most_process_rows)
    : most_changes_(most_changes), processes_(most_process_rows) {}

Result<void> SnapshotMerger::Add(Snapshot snapshot, uint64_t run_id) {
  if (snapshot.sources.empty()) {
    SnapshotSource source = {snapshot.program, SumPeak(snapshot), !snapshot.timeline.points.empty(),
                             !snapshot.moments.at.empty()};
    if (source.program.run_id == 0) source.program.run_id = run_id;
    snapshot.sources.push_back(std::move(source));
  }
  for (const SnapshotSource& source : snapshot.sources) {
    if (sources_.count(source) == 0) continue;
    return Fail(ErrorKind::kUsage,
                fmt::format("{} is there already, and would be counted twice", NameOf(source)));
  }
  const uint64_t sample_bytes =
      first_ ? first_->tracker.sample_bytes : merged_.tracker.sample_bytes;
  if (!sources_.empty() && snapshot.tracker.sample_bytes != sample_bytes) {
    return Fail(ErrorKind::kUsage,
                fmt::format("its figures are {}, those before it {}: they can't be summed",
                            FiguresText(snapshot.tracker.sample_bytes), FiguresText(sample_bytes)));
  }
  const bool is_first = sources_.empty();
  sources_.insert(snapshot.sources.begin(), snapshot.sources.end());
  if (is_first) {
    first_ = std::move(snapshot);
    return {};
  }
  if (first_) Place(*std::exchange(first_, std::nullopt));
  Place(std::move(snapshot));
  return {};
}

void SnapshotMerger::Place(Snapshot snapshot) {
  std::vector<uint32_t> names;
  for (const std::string& name : snapshot.thread_names) {
    names.push_back(PlaceIn(names_, name, merged_.thread_names, name));
  }
  const std::vector<uint32_t> nodes = PlaceNodes(snapshot, PlaceFrames(snapshot));
  const std::vector<uint32_t> moments = PlaceHistory(snapshot);
  std::vector<SnapshotProcess> processes = std::move(snapshot.processes);
  if (snapshot.sources.size() == 1 && processes.empty()) {
    processes.push_back(ProcessOf(snapshot.sites));
  }
  const auto sites = PlaceSites(std::move(snapshot.sites), nodes, names, moments);
  PlaceProcesses(snapshot.sources, std::move(processes), sites);
  AddSizes(merged_.other_sizes, snapshot.other_sizes);
  merged_.named.left_out =
      SaturatedSum(merged_.named.left_out,
                   SaturatedSum(snapshot.named.left_out, uint64_t{snapshot.named.taken.size()}));
  PlaceTracker(snapshot.tracker);
  memprof::AddUnseen(merged_.unseen, snapshot.unseen);
  PlaceMappings(snapshot.mappings, nodes, names, moments);
  placed_ = true;
}

std::vector<uint32_t> SnapshotMerger::PlaceFrames(const Snapshot& snapshot) {
  std::vector<uint32_t> modules;
  for (const SnapshotModule& module : snapshot.modules) {
    modules.push_back(PlaceIn(modules_, MergeKey(module), merged_.modules, module));
    std::string& path = merged_.modules[modules.back()].path;
    path = std::min(path, module.path);
  }
  std::vector<uint32_t> python;
  for (const SnapshotPythonFunction& function : snapshot.python) {
    python.push_back(PlaceIn(python_, function, merged_.python, function));
  }
  std::vector<uint32_t> moved;
  moved.reserve(snapshot.frames.size());
  for (SnapshotFrame frame : snapshot.frames) {
    if (frame.module != kNoModule) frame.module = modules[frame.module];
    if (IsPython(frame)) {
      frame.offset =
          PythonOffset(python[PythonFunctionOf(frame.offset)], PythonLineOf(frame.offset));
    }
    moved.push_back(PlaceIn(frames_, frame, merged_.frames, frame));
  }
  return moved;
}

std::vector<uint32_t> SnapshotMerger::PlaceNodes(const Snapshot& snapshot,
                                                 const std::vector<uint32_t>& frames) {
  std::vector<uint32_t> moved = {0};
  moved.reserve(snapshot.nodes.size());
  for (size_t i = 1; i < snapshot.nodes.size(); ++i) {
    const SnapshotNode& node = snapshot.nodes[i];
    moved.push_back(nodes_.Child(moved[node.parent], frames[node.frame]));
  }
  return moved;
}

// Returns the new indices of the snapshot's moments.
std::vector<uint32_t> SnapshotMerger::PlaceHistory(const Snapshot& snapshot) {
  if (const Timeline& timeline = snapshot.timeline; !timeline.points.empty()) {
    const uint64_t interval = std::max(
        merged_.timeline.interval_ms,
        AlignedInterval(timeline.interval_ms, timeline.points.back().time_ms, kMaxTimelinePoints));
    merged_.timeline = SumOf(Align(merged_.timeline, interval), Align(timeline, interval));
  }
  const Moments& moments = snapshot.moments;
  if (moments.at.empty()) return {};
  const uint64_t interval =
      std::max(merged_.moments.interval_ms,
               AlignedInterval(moments.interval_ms, moments.at.back().time_ms, kMaxMoments));
  CoarsenMoments(interval);
  AlignedMoments aligned = Align(moments, interval);
  merged_.moments = SumOf(merged_.moments, aligned.moments);
  return std::move(aligned.moved);
}

void SnapshotMerger::CoarsenMoments(uint64_t interval_ms) {
  if (merged_.moments.at.empty() || merged_.moments.interval_ms == interval_ms) return;
  AlignedMoments aligned = Align(merged_.moments, interval_ms);
  for (SnapshotSite& site : merged_.sites) site.history = Moved(site.history, aligned.moved);
  for (SnapshotMapping& row : merged_.mappings.rows) {
    row.history = Moved(row.history, aligned.moved);
  }
  merged_.moments = std::move(aligned.moments);
}

void SnapshotMerger::DropMoments() {
  merged_.moments = {};
  for (SnapshotSite& site : merged_.sites) site.history.clear();
  for (SnapshotMapping& row : merged_.mappings.rows) row.history.clear();
}

// Returns the new indices of the sites.
std::vector<uint32_t> SnapshotMerger::PlaceSites(std::vector<SnapshotSite> sites,
                                                 const std::vector<uint32_t>& nodes,
                                                 const std::vector<uint32_t>& names,
                                                 const std::vector<uint32_t>& moments) {
  std::vector<uint32_t> moved;
  moved.reserve(sites.size());
  for (SnapshotSite& placed : sites) {
    placed.node = nodes[placed.node];
    placed.thread_name = names[placed.thread_name];
    placed.history = Moved(placed.history, moments);
    placed.named.clear();
    const SiteKey key = {placed.node, placed.thread_name, placed.size_class, placed.kind};
    const auto [at, fresh] = sites_.emplace(key, static_cast<uint32_t>(merged_.sites.size()));
    moved.push_back(at->second);
    if (fresh) {
      merged_.sites.push_back(std::move(placed));
    } else {
      AddSite(placed, merged_.sites[at->second], merged_.other_sizes);
    }
  }
  return moved;
}

void SnapshotMerger::PlaceProcesses(const std::vector<SnapshotSource>& sources,
                                    std::vector<SnapshotProcess> processes,
                                    const std::vector<uint32_t>& sites) {
  processes.resize(sources.size());
  for (size_t i = 0; i < sources.size(); ++i) {
    MoveRows(processes[i].rows, sites);
    processes_.Add(sources[i], std::move(processes[i]));
  }
}

// The resident memory of several processes isn't known.
void SnapshotMerger::PlaceMappings(SnapshotMappings& mappings, const std::vector<uint32_t>& nodes,
                                   const std::vector<uint32_t>& names,
                                   const std::vector<uint32_t>& moments) {
  SnapshotMappings& sum = merged_.mappings;
  sum.followed = mappings.followed && (!placed_ || sum.followed);
  sum.lost_events = SaturatedSum(sum.lost_events, mappings.lost_events);
  sum.unattributed_bytes = SaturatedSum(sum.unattributed_bytes, mappings.unattributed_bytes);
  for (SnapshotMapping& row : mappings.rows) {
    row.node = nodes[row.node];
    row.thread_name = names[row.thread_name];
    row.history = Moved(row.history, moments);
    sum.rows.push_back(std::move(row));
  }
}

void SnapshotMerger::PlaceTracker(const SnapshotTracker& more) {
  SnapshotTracker& sum = merged_.tracker;
  for (const auto figure :
       {&SnapshotTracker::bytes, &SnapshotTracker::dropped_events,
        &SnapshotTracker::truncated_stacks, &SnapshotTracker::incomplete_stacks,
        &SnapshotTracker::tables_full_events, &SnapshotTracker::unknown_frees,
        &SnapshotTracker::unnamed_frames, &SnapshotTracker::unread_python,
        &SnapshotTracker::counter_peak_bytes, &SnapshotTracker::peak_bound_bytes,
        &SnapshotTracker::unattributed_bytes, &SnapshotTracker::attached,
        &SnapshotTracker::before_attach_frees, &SnapshotTracker::before_attach_bytes}) {
    sum.*figure = SaturatedSum(sum.*figure, more.*figure);
  }
  sum.stop_reason = std::max(sum.stop_reason, more.stop_reason);
  sum.fork_children = SaturatedSum(sum.fork_children, more.fork_children);
  sum.inexact_read = sum.inexact_read || more.inexact_read;
  sum.sample_bytes = more.sample_bytes;
  // Another threshold gives other temporary blocks: their figures can't be summed.
  const bool same = !placed_ || sum.temporary_threshold == more.temporary_threshold;
  sum.temporary_threshold = same ? more.temporary_threshold : 0;
}

SnapshotProgram ProgramOf(const std::vector<SnapshotSource>& sources) {
  SnapshotProgram program = sources.front().program;
  for (const SnapshotSource& source : sources) {
    const SnapshotProgram& one = source.program;
    if (one.program != program.program) program.program = kSeveralPrograms;
    if (one.command != program.command) program.command.clear();
    program.start_unix_ms = std::min(program.start_unix_ms, one.start_unix_ms);
    program.duration_ms = std::max(program.duration_ms, one.duration_ms);
    std::tie(program.end_kind, program.end_code) =
        std::max(std::make_pair(program.end_kind, program.end_code),
                 std::make_pair(one.end_kind, one.end_code));
  }
  program.rss_peak_bytes = 0;
  for (const SnapshotSource& source : sources) {
    program.rss_peak_bytes = SaturatedSum(program.rss_peak_bytes, source.program.rss_peak_bytes);
  }
  program.pid = 0;
  program.run_id = 0;
  program.peak_time_ms = 0;
  program.peak_time_resolution_ms = 0;
  return program;
}

void SnapshotMerger::AddUnseen(const std::vector<Unseen>& unseen) {
  memprof::AddUnseen(first_ ? first_->unseen : merged_.unseen, unseen);
}

CanonicalSnapshot SnapshotMerger::Take() {
  if (first_) {
    // A single source is no merge.
    if (first_->sources.size() == 1) {
      first_->sources.clear();
      first_->processes.clear();
    }
    return Canonical(std::move(*first_));
  }
  bool has_moments = true;
  while (has_moments && ChangesIn(merged_) > most_changes_) {
    has_moments = merged_.moments.at.size() > 1;
    if (has_moments) {
      CoarsenMoments(merged_.moments.interval_ms * 2);
    } else {
      DropMoments();
    }
  }
  merged_.nodes = std::move(nodes_).Take();
  merged_.sources.assign(sources_.begin(), sources_.end());
  merged_.program = ProgramOf(merged_.sources);
  merged_.processes = processes_.Take(merged_.sources);
  if (merged_.tracker.temporary_threshold == 0) {
    for (SnapshotSite& site : merged_.sites) site.temporary = {};
    for (SnapshotProcess& process : merged_.processes) {
      for (ProcessRow& row : process.rows) row.temporary = {};
    }
  }
  for (SnapshotSource& source : merged_.sources) source.has_moments &= has_moments;
  return Canonical(std::move(merged_));
}

}  // namespace memprof
