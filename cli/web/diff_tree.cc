#include "cli/web/diff_tree.h"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>
#include <utility>

#include "cli/web/page_tree.h"
#include "core/profile/symbol_key.h"

namespace memprof {
namespace {

constexpr uint32_t kNone = ~uint32_t{0};

class Merger {
 public:
  Merger(const Profile& before, const Profile& after) {
    tree_.nodes.push_back({});
    Add(before, &DiffTreeNode::before);
    Add(after, &DiffTreeNode::after);
  }
  DiffTree Take() { return std::move(tree_); }

 private:
  void Add(const Profile& profile, Figures DiffTreeNode::*side) {
    std::vector<uint32_t> frames;  // of the tree, by the profile's
    for (const ProfileFrame& frame : profile.frames) frames.push_back(FrameOf(profile, frame));
    std::vector<uint32_t> places(std::max<size_t>(profile.nodes.size(), 1), 0);
    // Parents have smaller indexes.
    for (size_t i = 1; i < profile.nodes.size(); ++i) places[i] = kNone;
    std::vector<uint32_t> path;
    for (const ProfileSite& site : profile.sites) {
      uint32_t place = 0;
      if (site.runtime_reason != nullptr) {
        place = Child(0, Frame({kRuntimeRow, ""}, "", FrameKind::kRow));
      } else {
        path.clear();
        uint32_t node = site.node;
        for (; places[node] == kNone; node = profile.nodes[node].parent) path.push_back(node);
        place = places[node];
        for (auto at = path.rbegin(); at != path.rend(); ++at) {
          place = places[*at] = Child(place, frames[profile.nodes[*at].frame]);
        }
      }
      Figures& counts = tree_.nodes[place].*side;
      AddFigures(counts, site);
    }
  }

  uint32_t FrameOf(const Profile& profile, const ProfileFrame& frame) {
    const std::string module =
        frame.module < profile.modules.size() ? profile.modules[frame.module].path : "";
    SymbolKey key = SymbolKeyOf(profile, frame);
    const FrameKind kind = ClassifyFrame(key.function, module);
    return Frame(std::move(key), module, kind);
  }

  uint32_t Frame(SymbolKey key, const std::string& module, FrameKind kind) {
    const auto [at, fresh] =
        frame_ids_.try_emplace(std::move(key), static_cast<uint32_t>(tree_.frames.size()));
    if (fresh) tree_.frames.push_back({at->first.function, module, kind});
    tree_.frames[at->second].module = module;
    return at->second;
  }

  uint32_t Child(uint32_t parent, uint32_t frame) {
    const auto [at, fresh] = children_.try_emplace(uint64_t{parent} << 32 | frame,
                                                   static_cast<uint32_t>(tree_.nodes.size()));
    if (fresh) tree_.nodes.push_back({parent, frame, {}, {}});
    return at->second;
  }

  DiffTree tree_;
  std::map<SymbolKey, uint32_t> frame_ids_;
  std::unordered_map<uint64_t, uint32_t> children_;
};

// Before, after and what changed of each figure, in bytes: what a node may matter by. Sums towards
// the root, so no node matters more than its parent.
using Weights = std::array<double, 3 * std::size(kAllFigures)>;

Weights OwnWeights(const DiffTreeNode& node) {
  Weights weights;
  size_t i = 0;
  for (const Figure figure : kAllFigures) {
    const auto before = static_cast<double>(FigureOf(node.before, figure).bytes);
    const auto after = static_cast<double>(FigureOf(node.after, figure).bytes);
    weights[i++] = before;
    weights[i++] = after;
    weights[i++] = std::max(before, after) - std::min(before, after);
  }
  return weights;
}

std::vector<double> Importance(const std::vector<DiffTreeNode>& nodes) {
  std::vector<Weights> sums;
  for (const DiffTreeNode& node : nodes) sums.push_back(OwnWeights(node));
  for (size_t i = nodes.size(); i-- > 1;) {
    for (size_t k = 0; k < sums[i].size(); ++k) sums[nodes[i].parent][k] += sums[i][k];
  }
  std::vector<double> importance(nodes.size(), 0);
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (size_t k = 0; k < sums[i].size(); ++k) {
      if (sums[0][k] > 0) importance[i] = std::max(importance[i], sums[i][k] / sums[0][k]);
    }
  }
  return importance;
}

// The most important nodes, each only below one that stays; of each that stays the folded children
// are one row.
std::vector<bool> ChooseKept(const std::vector<DiffTreeNode>& nodes, size_t max_nodes) {
  std::vector<bool> kept(nodes.size(), true);
  if (nodes.size() <= max_nodes) return kept;
  const std::vector<double> importance = Importance(nodes);
  std::vector<uint32_t> order(nodes.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  // Stable: of equals the parent, which has the smaller index, comes first.
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return importance[a] > importance[b]; });
  kept.assign(nodes.size(), false);
  // Each that stays may need a row below it.
  for (size_t i = 0; i < order.size() && i < std::max<size_t>(max_nodes / 2, 1); ++i) {
    kept[order[i]] = true;
  }
  return kept;
}

DiffTree Pruned(const DiffTree& whole, size_t max_nodes) {
  const std::vector<bool> kept = ChooseKept(whole.nodes, max_nodes);
  DiffTree tree;
  tree.frames = whole.frames;
  uint32_t pruned_frame = kNone;
  std::vector<uint32_t> place(whole.nodes.size(), 0);
  std::vector<uint32_t> row(whole.nodes.size(), kNone);
  for (size_t i = 0; i < whole.nodes.size(); ++i) {
    const DiffTreeNode& node = whole.nodes[i];
    if (kept[i]) {
      place[i] = static_cast<uint32_t>(tree.nodes.size());
      tree.nodes.push_back({i == 0 ? 0 : place[node.parent], node.frame, {}, {}});
    } else if (!kept[node.parent]) {
      place[i] = place[node.parent];
      ++tree.pruned_nodes;
    } else {
      if (pruned_frame == kNone) {
        pruned_frame = static_cast<uint32_t>(tree.frames.size());
        tree.frames.push_back({kPrunedRow, "", FrameKind::kRow});
      }
      if (row[node.parent] == kNone) {
        row[node.parent] = static_cast<uint32_t>(tree.nodes.size());
        tree.nodes.push_back({place[node.parent], pruned_frame, {}, {}});
      }
      place[i] = row[node.parent];
      ++tree.pruned_nodes;
    }
    for (Figures DiffTreeNode::*side : {&DiffTreeNode::before, &DiffTreeNode::after}) {
      AddFigures(tree.nodes[place[i]].*side, node.*side);
    }
  }
  return tree;
}

}  // namespace

DiffTree MakeDiffTree(const Profile& before, const Profile& after, size_t max_nodes) {
  return Pruned(Merger(before, after).Take(), max_nodes);
}

}  // namespace memprof
