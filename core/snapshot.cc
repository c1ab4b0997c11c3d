#include "core/snapshot.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "core/region_layout.h"

namespace memprof {
namespace {

Count Sum(const Snapshot& snapshot, Count SnapshotSite::*figure) {
  Count sum;
  for (const SnapshotSite& site : snapshot.sites) sum += site.*figure;
  return sum;
}

bool HasFigure(const SnapshotSite& site) {
  const Count none;
  return site.peak != none || site.leaked != none || site.total != none || !site.history.empty();
}

// Distinct values in order, and where each old one went.
template <typename Value, typename Key>
std::vector<uint32_t> SortDistinct(std::vector<Value>& values, const std::vector<bool>& used,
                                   Key key) {
  using KeyType = decltype(key(values[0]));
  std::map<KeyType, uint32_t> order;
  for (size_t i = 0; i < values.size(); ++i) {
    if (used[i]) order.emplace(key(values[i]), 0);
  }
  uint32_t next = 0;
  for (auto& entry : order) entry.second = next++;
  std::vector<Value> sorted(order.size());
  std::vector<uint32_t> moved(values.size(), 0);
  for (size_t i = 0; i < values.size(); ++i) {
    if (!used[i]) continue;
    moved[i] = order.at(key(values[i]));
    sorted[moved[i]] = values[i];
  }
  values = std::move(sorted);
  return moved;
}

// Numbers the nodes of a tree in preorder, children by their frames.
void Number(const std::vector<std::map<uint32_t, uint32_t>>& children,
            std::vector<uint32_t>& number, std::vector<SnapshotNode>& nodes) {
  std::vector<std::pair<uint32_t, uint32_t>> open = {{0, 0}};  // (draft node, its frame)
  std::vector<uint32_t> draft_parent(children.size(), 0);
  while (!open.empty()) {
    const auto [draft, frame] = open.back();
    open.pop_back();
    number[draft] = static_cast<uint32_t>(nodes.size());
    nodes.push_back({draft == 0 ? 0 : number[draft_parent[draft]], frame});
    for (auto child = children[draft].rbegin(); child != children[draft].rend(); ++child) {
      draft_parent[child->second] = draft;
      open.emplace_back(child->second, child->first);
    }
  }
}

}  // namespace

std::string WhyStopped(uint32_t stop_reason) {
  switch (static_cast<StopReason>(stop_reason)) {
    case StopReason::kNoMemory:
      return "the system gave it no memory for its tables";
    case StopReason::kBadRegion:
      return "it did not understand its region; are memprof and its library of one version?";
    case StopReason::kNoFindObject:
      return "the C library is too old: glibc 2.35 or newer is needed";
    case StopReason::kNone:
      break;
  }
  return "for a reason that this memprof does not know";
}

Count SumPeak(const Snapshot& snapshot) { return Sum(snapshot, &SnapshotSite::peak); }
Count SumLeaked(const Snapshot& snapshot) { return Sum(snapshot, &SnapshotSite::leaked); }
Count SumTotal(const Snapshot& snapshot) { return Sum(snapshot, &SnapshotSite::total); }

Snapshot Canonical(const Snapshot& snapshot) {
  Snapshot result;
  result.program = snapshot.program;
  result.tracker = snapshot.tracker;
  if (!snapshot.timeline.points.empty()) result.timeline = snapshot.timeline;
  if (!snapshot.moments.at.empty()) result.moments = snapshot.moments;

  // What sites with figures refer to. Parents come before children, so one pass backwards does.
  std::vector<bool> node_used(snapshot.nodes.size());
  std::vector<bool> name_used(snapshot.thread_names.size());
  for (const SnapshotSite& site : snapshot.sites) {
    if (!HasFigure(site)) continue;
    node_used[site.node] = true;
    name_used[site.thread_name] = true;
  }
  std::vector<bool> frame_used(snapshot.frames.size());
  std::vector<bool> module_used(snapshot.modules.size());
  for (size_t i = snapshot.nodes.size(); i-- > 1;) {
    if (!node_used[i]) continue;
    node_used[snapshot.nodes[i].parent] = true;
    frame_used[snapshot.nodes[i].frame] = true;
    const uint32_t module = snapshot.frames[snapshot.nodes[i].frame].module;
    if (module != kNoModule) module_used[module] = true;
  }

  result.modules = snapshot.modules;
  const auto module_moved = SortDistinct(result.modules, module_used, [](const SnapshotModule& m) {
    return std::tie(m.path, m.build_id);
  });
  result.frames = snapshot.frames;
  for (SnapshotFrame& frame : result.frames) {
    if (frame.module != kNoModule) frame.module = module_moved[frame.module];
  }
  const auto frame_moved = SortDistinct(result.frames, frame_used, [](const SnapshotFrame& f) {
    return std::make_tuple(f.module, f.offset);
  });
  result.thread_names = snapshot.thread_names;
  const auto name_moved =
      SortDistinct(result.thread_names, name_used, [](const std::string& name) { return name; });

  // The tree again, with equal children as one.
  std::vector<std::map<uint32_t, uint32_t>> children(1);
  std::vector<uint32_t> draft(snapshot.nodes.size(), 0);
  for (size_t i = 1; i < snapshot.nodes.size(); ++i) {
    if (!node_used[i]) continue;
    const uint32_t parent = draft[snapshot.nodes[i].parent];
    const uint32_t frame = frame_moved[snapshot.nodes[i].frame];
    const auto [at, fresh] =
        children[parent].emplace(frame, static_cast<uint32_t>(children.size()));
    draft[i] = at->second;
    if (fresh) children.emplace_back();
  }
  std::vector<uint32_t> number(children.size(), 0);
  Number(children, number, result.nodes);

  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, SnapshotSite> sites;
  for (const SnapshotSite& site : snapshot.sites) {
    if (!HasFigure(site)) continue;
    const uint32_t node = number[draft[site.node]];
    const uint32_t name = name_moved[site.thread_name];
    SnapshotSite& merged = sites[{node, name, site.size_class}];
    merged.node = node;
    merged.thread_name = name;
    merged.size_class = site.size_class;
    merged.peak += site.peak;
    merged.leaked += site.leaked;
    merged.total += site.total;
    merged.history = merged.history.empty() ? site.history : SumOf(merged.history, site.history);
  }
  for (const auto& entry : sites) result.sites.push_back(entry.second);
  return result;
}

}  // namespace memprof
