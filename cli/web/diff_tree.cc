#include "cli/web/diff_tree.h"

#include <algorithm>
#include <map>
#include <utility>

#include "cli/web/page_tree.h"
#include "core/profile/symbol_key.h"
#include "core/tree/interned_tree.h"
#include "core/tree/pruned_tree.h"

namespace memprof {
namespace {

constexpr uint32_t kNoPlace = ~uint32_t{0};

class DiffMerger {
 public:
  DiffMerger(const Profile& before, const Profile& after) {
    Add(before, &DiffTreeNode::before);
    Add(after, &DiffTreeNode::after);
  }

  std::vector<DiffTreeFrame> frames;
  InternedTree<DiffTreeNode> nodes;

 private:
  void Add(const Profile& profile, Figures DiffTreeNode::*side) {
    std::vector<uint32_t> of_tree;  // from the profile's frames to the tree's
    for (const ProfileFrame& frame : profile.frames) of_tree.push_back(FrameOf(profile, frame));
    std::vector<uint32_t> places(std::max<size_t>(profile.nodes.size(), 1), 0);
    // Parents have smaller indexes.
    for (size_t i = 1; i < profile.nodes.size(); ++i) places[i] = kNoPlace;
    std::vector<uint32_t> path;
    for (const ProfileSite& site : profile.sites) {
      uint32_t place = 0;
      if (site.runtime_reason != nullptr) {
        place = nodes.Child(0, Frame({kRuntimeRow, ""}, "", FrameKind::kRow));
      } else {
        path.clear();
        uint32_t node = site.node;
        for (; places[node] == kNoPlace; node = profile.nodes[node].parent) path.push_back(node);
        place = places[node];
        for (auto at = path.rbegin(); at != path.rend(); ++at) {
          place = places[*at] = nodes.Child(place, of_tree[profile.nodes[*at].frame]);
        }
      }
      Figures& counts = nodes[place].*side;
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
        frame_ids_.try_emplace(std::move(key), static_cast<uint32_t>(frames.size()));
    if (fresh) frames.push_back({at->first.function, module, kind});
    frames[at->second].module = module;
    return at->second;
  }

  std::map<SymbolKey, uint32_t> frame_ids_;
};

// Each figure's bytes before, after and their change.
constexpr size_t kWeights = 3 * std::size(kAllFigures);

double OwnWeight(const DiffTreeNode& node, size_t kind) {
  const Figure figure = kAllFigures[kind / 3];
  const auto before = static_cast<double>(FigureOf(node.before, figure).bytes);
  const auto after = static_cast<double>(FigureOf(node.after, figure).bytes);
  if (kind % 3 == 0) return before;
  return kind % 3 == 1 ? after : std::max(before, after) - std::min(before, after);
}

PrunedTree PruneTo(size_t max_nodes, const std::vector<DiffTreeNode>& nodes) {
  const auto own = [&nodes](size_t kind) {
    std::vector<double> weights;
    for (const DiffTreeNode& node : nodes) weights.push_back(OwnWeight(node, kind));
    return weights;
  };
  // Each kept node may need a row below it.
  size_t left = nodes.size() <= max_nodes ? nodes.size() : std::max<size_t>(max_nodes / 2, 1);
  return Prune(nodes, ByImportance(Importance(nodes, kWeights, own)),
               [&left](uint32_t) { return left-- > 0; });
}

}  // namespace

DiffTree MakeDiffTree(const Profile& before, const Profile& after, size_t max_nodes) {
  DiffMerger whole(before, after);
  const PrunedTree pruned = PruneTo(max_nodes, whole.nodes.nodes());
  DiffTree tree;
  tree.frames = std::move(whole.frames);
  tree.pruned_nodes = pruned.folded_nodes;
  uint32_t pruned_frame = kNoPlace;
  for (const PrunedNode& node : pruned.nodes) {
    if (node.node == PrunedNode::kRow && pruned_frame == kNoPlace) {
      pruned_frame = static_cast<uint32_t>(tree.frames.size());
      tree.frames.push_back({kPrunedRow, "", FrameKind::kRow});
    }
    const uint32_t frame =
        node.node == PrunedNode::kRow ? pruned_frame : whole.nodes[node.node].frame;
    tree.nodes.push_back({node.parent, frame, {}, {}});
  }
  for (uint32_t i = 0; i < whole.nodes.size(); ++i) {
    for (Figures DiffTreeNode::*side : {&DiffTreeNode::before, &DiffTreeNode::after}) {
      AddFigures(tree.nodes[pruned.place[i]].*side, whole.nodes[i].*side);
    }
  }
  return tree;
}

}  // namespace memprof
