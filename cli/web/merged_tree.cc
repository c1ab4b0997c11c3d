#include "cli/web/merged_tree.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "core/tree/interned_tree.h"
#include "core/tree/pruned_tree.h"

namespace memprof {
namespace {

constexpr uint32_t kNone = 0xffffffffu;

class Merger {
 public:
  explicit Merger(const Profile& profile) : profile_(profile) {
    name_of_frame_.assign(profile.frames.size(), kNone);
    merged_of_[0].assign(std::max<size_t>(profile.nodes.size(), 1), kNone);
    merged_of_[0][0] = 0;
    tree_.node_of_site.reserve(profile.sites.size());
    for (const ProfileSite& site : profile.sites) Add(site);
  }

  MergedTree Take() && {
    tree_.nodes = std::move(nodes_).Take();
    return std::move(tree_);
  }

 private:
  void Add(const ProfileSite& site) {
    // A node may be needed twice: under the root, and for blocks kept by design.
    const size_t variant = site.runtime_reason == nullptr ? 0 : 1;
    if (variant == 1) {
      const uint32_t top =
          nodes_.Child(nodes_.Child(0, Row(kRuntimeRow)), Row(site.runtime_reason));
      // Sites of different reasons may share outer frames: the memo holds for one reason only.
      if (top != runtime_top_) {
        runtime_top_ = top;
        merged_of_[1].assign(merged_of_[0].size(), kNone);
        merged_of_[1][0] = top;
      }
    }
    tree_.node_of_site.push_back(MergedOf(merged_of_[variant], site.node));
  }

  uint32_t MergedOf(std::vector<uint32_t>& memo, uint32_t node) {
    path_.clear();  // innermost first
    while (memo[node] == kNone) {
      path_.push_back(node);
      node = profile_.nodes[node].parent;
    }
    uint32_t merged = memo[node];
    for (auto it = path_.rbegin(); it != path_.rend(); ++it) {
      const uint32_t frame = profile_.nodes[*it].frame;
      merged = nodes_.Child(merged, NameOf(frame));
      tree_.frames.push_back({merged, frame});
      memo[*it] = merged;
    }
    return merged;
  }

  uint32_t NameOf(uint32_t index) {
    if (name_of_frame_[index] == kNone) {
      const ProfileFrame& frame = profile_.frames[index];
      const std::string module =
          frame.module == kNoModule ? std::string() : profile_.modules[frame.module].path;
      name_of_frame_[index] = Name(
          {frame.function, frame.file, module,
           frame.stands_behind ? FrameKind::kInterpreter : ClassifyFrame(frame.function, module)});
    }
    return name_of_frame_[index];
  }

  uint32_t Row(std::string text) { return Name({std::move(text), "", "", FrameKind::kRow}); }

  uint32_t Name(FunctionName name) {
    // NUL can't occur in a path; in a function it would only merge two hostile names.
    std::string key = name.function + '\0' + name.file + '\0' + name.module;
    // Code of the interpreter has two names: behind Python frames, and without them.
    if (name.kind == FrameKind::kInterpreter) key += '\0';
    const auto [it, is_new] =
        name_index_.try_emplace(std::move(key), static_cast<uint32_t>(tree_.names.size()));
    if (is_new) tree_.names.push_back(std::move(name));
    return it->second;
  }

  const Profile& profile_;
  MergedTree tree_;
  InternedTree<MergedNode> nodes_;
  std::vector<uint32_t> name_of_frame_;  // kNone: not asked for yet
  std::vector<uint32_t> merged_of_[2];
  std::vector<uint32_t> path_;
  uint32_t runtime_top_ = kNone;
  std::unordered_map<std::string, uint32_t> name_index_;
};

// Bytes and allocations of each figure.
std::vector<double> OwnWeights(const Profile& profile, const MergedTree& tree, size_t kind) {
  std::vector<double> own(tree.nodes.size());
  for (size_t i = 0; i < profile.sites.size(); ++i) {
    const Count& count = FigureOf(profile.sites[i], kAllFigures[kind / 2]);
    own[tree.node_of_site[i]] +=
        static_cast<double>(kind % 2 == 0 ? count.bytes : count.allocations);
  }
  return own;
}

}  // namespace

MergedTree MergeTree(const Profile& profile) {
  MergedTree tree = Merger(profile).Take();
  const auto own = [&](size_t kind) { return OwnWeights(profile, tree, kind); };
  tree.by_importance = ByImportance(Importance(tree.nodes, 2 * std::size(kAllFigures), own));
  return tree;
}

}  // namespace memprof
