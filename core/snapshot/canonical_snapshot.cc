#include "core/snapshot/canonical_snapshot.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

namespace memprof {
namespace {

bool HasFigure(const SnapshotSite& site) {
  const Count none;
  return site.peak != none || site.leaked != none || site.total != none || !site.history.empty() ||
         !site.named.empty();
}

// Sorts the named moments by time and name; returns each old one's new index.
std::vector<uint32_t> SortNamed(std::vector<NamedMoment>& named) {
  std::vector<uint32_t> order(named.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::tie(named[a].time_ms, named[a].name) < std::tie(named[b].time_ms, named[b].name);
  });
  std::vector<NamedMoment> sorted;
  std::vector<uint32_t> moved(named.size());
  for (const uint32_t i : order) {
    moved[i] = static_cast<uint32_t>(sorted.size());
    sorted.push_back(named[i]);
  }
  named = std::move(sorted);
  return moved;
}

// Sorts the sources, and with them the processes, which are parallel.
void SortSources(std::vector<SnapshotSource>& sources, std::vector<SnapshotProcess>& processes) {
  if (processes.size() != sources.size()) {
    processes.clear();
    std::sort(sources.begin(), sources.end(), SourceBefore);
    return;
  }
  std::vector<std::pair<SnapshotSource, SnapshotProcess>> sorted;
  for (size_t i = 0; i < sources.size(); ++i) {
    sorted.emplace_back(std::move(sources[i]), std::move(processes[i]));
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return SourceBefore(a.first, b.first); });
  for (size_t i = 0; i < sorted.size(); ++i) {
    std::tie(sources[i], processes[i]) = std::move(sorted[i]);
  }
}

// Sorts the values and drops repetitions; returns each old one's new index.
template <typename Value, typename Key>
std::vector<uint32_t> SortDistinct(std::vector<Value>& values, const std::vector<bool>& used,
                                   Key key) {
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < values.size(); ++i) {
    if (used[i]) order.push_back(i);
  }
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return key(values[a]) < key(values[b]); });
  std::vector<Value> sorted;
  std::vector<uint32_t> moved(values.size(), 0);
  for (const uint32_t i : order) {
    if (sorted.empty() || key(sorted.back()) < key(values[i])) sorted.push_back(values[i]);
    moved[i] = static_cast<uint32_t>(sorted.size() - 1);
  }
  values = std::move(sorted);
  return moved;
}

// The used nodes' children: those of node i are child[first[i], first[i + 1]).
struct Children {
  Children(const std::vector<SnapshotNode>& nodes, const std::vector<bool>& used)
      : first(nodes.size() + 1), child(nodes.size()) {
    for (size_t i = 1; i < nodes.size(); ++i) first[nodes[i].parent + 1] += used[i];
    for (size_t i = 0; i < nodes.size(); ++i) first[i + 1] += first[i];
    std::vector<uint32_t> next(first.begin(), first.end() - 1);
    for (uint32_t i = 1; i < nodes.size(); ++i) {
      if (used[i]) child[next[nodes[i].parent]++] = i;
    }
  }
  std::vector<uint32_t> first;
  std::vector<uint32_t> child;
};

// Numbers the nodes of a tree in preorder, children by their frames and equal ones as one.
std::vector<uint32_t> Number(const std::vector<SnapshotNode>& nodes, const std::vector<bool>& used,
                             const std::vector<uint32_t>& frame_moved,
                             std::vector<SnapshotNode>& numbered) {
  struct Equal {  // members[begin, end) become one node
    size_t begin;
    size_t end;
    uint32_t parent;
  };
  const Children children(nodes, used);
  const auto frame = [&](uint32_t node) { return frame_moved[nodes[node].frame]; };
  std::vector<uint32_t> members = {0};
  std::vector<Equal> open = {{0, 1, 0}};
  std::vector<uint32_t> number(nodes.size(), 0);
  while (!open.empty()) {
    const Equal now = open.back();
    open.pop_back();
    const auto id = static_cast<uint32_t>(numbered.size());
    numbered.push_back({now.parent, id == 0 ? 0 : frame(members[now.begin])});
    const size_t begin = members.size();
    for (size_t i = now.begin; i < now.end; ++i) {
      const uint32_t node = members[i];
      number[node] = id;
      members.insert(members.end(), children.child.begin() + children.first[node],
                     children.child.begin() + children.first[node + 1]);
    }
    std::sort(members.begin() + static_cast<std::ptrdiff_t>(begin), members.end(),
              [&](uint32_t a, uint32_t b) { return frame(a) < frame(b); });
    for (size_t end = members.size(); end > begin;) {
      size_t first = end - 1;
      while (first > begin && frame(members[first - 1]) == frame(members[end - 1])) --first;
      open.push_back({first, end, id});
      end = first;
    }
  }
  return number;
}

Snapshot InCanonicalOrder(Snapshot snapshot) {
  Snapshot result;
  result.program = std::move(snapshot.program);
  result.tracker = snapshot.tracker;
  result.other_sizes = std::move(snapshot.other_sizes);
  if (!snapshot.timeline.points.empty()) result.timeline = std::move(snapshot.timeline);
  if (!snapshot.moments.at.empty()) result.moments = std::move(snapshot.moments);
  result.named = std::move(snapshot.named);
  const std::vector<uint32_t> named_moved = SortNamed(result.named.taken);
  result.mappings = std::move(snapshot.mappings);
  result.memory = std::move(snapshot.memory);
  result.unseen = std::move(snapshot.unseen);
  result.sources = std::move(snapshot.sources);
  result.processes = std::move(snapshot.processes);
  SortSources(result.sources, result.processes);

  // Marks the nodes that sites with figures refer to. Parents come before children, so one backward
  // pass does.
  std::vector<bool> node_used(snapshot.nodes.size());
  std::vector<bool> name_used(snapshot.thread_names.size());
  for (const SnapshotSite& site : snapshot.sites) {
    if (!HasFigure(site)) continue;
    node_used[site.node] = true;
    name_used[site.thread_name] = true;
  }
  for (const SnapshotMapping& row : result.mappings.rows) {
    if (!HasFigure(row)) continue;
    node_used[row.node] = true;
    name_used[row.thread_name] = true;
  }
  for (const InspectedRow& row : snapshot.inspection.rows) node_used[row.node] = true;
  result.modules = std::move(snapshot.modules);
  result.frames = std::move(snapshot.frames);
  result.thread_names = std::move(snapshot.thread_names);
  std::vector<bool> frame_used(result.frames.size());
  std::vector<bool> module_used(result.modules.size());
  std::vector<bool> python_used(snapshot.python.size());
  for (size_t i = snapshot.nodes.size(); i-- > 1;) {
    if (!node_used[i]) continue;
    node_used[snapshot.nodes[i].parent] = true;
    frame_used[snapshot.nodes[i].frame] = true;
    const SnapshotFrame& frame = result.frames[snapshot.nodes[i].frame];
    if (frame.module != kNoModule) module_used[frame.module] = true;
    if (IsPython(frame)) python_used[PythonFunctionOf(frame.offset)] = true;
  }

  const auto module_moved = SortDistinct(result.modules, module_used, [](const SnapshotModule& m) {
    return std::tie(m.path, m.build_id);
  });
  result.python = std::move(snapshot.python);
  const auto python_moved = SortDistinct(
      result.python, python_used,
      [](const SnapshotPythonFunction& f) { return std::tie(f.file, f.function, f.first_line); });
  for (SnapshotFrame& frame : result.frames) {
    if (frame.module != kNoModule) frame.module = module_moved[frame.module];
    if (IsPython(frame)) {
      frame.offset =
          PythonOffset(python_moved[PythonFunctionOf(frame.offset)], PythonLineOf(frame.offset));
    }
  }
  const auto frame_moved = SortDistinct(result.frames, frame_used, [](const SnapshotFrame& f) {
    return std::make_tuple(f.module, f.offset);
  });
  const auto name_moved =
      SortDistinct(result.thread_names, name_used, [](const std::string& name) { return name; });

  const auto number = Number(snapshot.nodes, node_used, frame_moved, result.nodes);

  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < snapshot.sites.size(); ++i) {
    SnapshotSite& site = snapshot.sites[i];
    if (!HasFigure(site)) continue;
    site.node = number[site.node];
    site.thread_name = name_moved[site.thread_name];
    order.push_back(i);
  }
  const auto key_of = [](const SnapshotSite& site) {
    return std::make_tuple(site.node, site.thread_name, site.size_class, site.kind);
  };
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return key_of(snapshot.sites[a]) < key_of(snapshot.sites[b]);
  });
  std::vector<uint32_t> moved(snapshot.sites.size());
  result.sites.reserve(order.size());
  for (const uint32_t i : order) {
    SnapshotSite site = std::move(snapshot.sites[i]);  // its memory is freed after this round
    if (result.sites.empty() || key_of(result.sites.back()) != key_of(site)) {
      SnapshotSite& fresh = result.sites.emplace_back();
      std::tie(fresh.node, fresh.thread_name, fresh.size_class, fresh.kind) = key_of(site);
    }
    moved[i] = static_cast<uint32_t>(result.sites.size() - 1);
    site.named = InOrder(site.named, named_moved);
    AddSite(site, result.sites.back(), result.other_sizes);
  }
  if (!result.processes.empty()) {
    for (SnapshotProcess& process : result.processes) MoveRows(process.rows, moved);
    // Sums of untrusted figures may have wrapped round to less than their parts.
    if (!FitSites(result.processes, result.sites)) result.processes.clear();
  }
  for (SnapshotMapping& row : result.mappings.rows) {
    row.node = number[row.node];
    row.thread_name = name_moved[row.thread_name];
  }
  result.mappings.rows = CanonicalMappings(result.mappings.rows);
  if (snapshot.inspection.looks != 0) {
    result.inspection = CanonicalInspection(std::move(snapshot.inspection), number);
  }
  return result;
}

}  // namespace

CanonicalSnapshot::CanonicalSnapshot(Snapshot snapshot)
    : snapshot_(InCanonicalOrder(std::move(snapshot))) {}

}  // namespace memprof
