#include "cli/web/page_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <unordered_map>
#include <utility>

namespace memprof {
namespace {

constexpr uint32_t kNone = 0xffffffffu;
constexpr size_t kLinesShown = 8;
// A name is shown in full up to this; the longest seen in real C++ are around 10,000 bytes.
constexpr size_t kMaxTextBytes = 32 * 1024;
// What a node costs in the page, on average: parent, frame, and the figures of every third one.
// PageData measures what it really takes.
constexpr size_t kNodeBytes = 32;

struct MergedNode {
  uint32_t parent = 0;
  uint32_t name = 0;  // index of names_
  std::set<uint32_t> lines;
  bool inlined = true;
  PageNode figures;  // own, parent and frame unused
};

// Merges the profile's nodes by (parent, function, file, module).
class Merger {
 public:
  explicit Merger(const Profile& profile) : profile_(profile) {
    nodes.push_back({});
    for (auto& memo : merged_of_) {
      memo.assign(std::max<size_t>(profile.nodes.size(), 1), kNone);
    }
    merged_of_[0][0] = 0;
    for (const ProfileSite& site : profile.sites) Add(site);
  }

  std::vector<MergedNode> nodes;
  std::vector<PageFrame> names;        // lines and inlined not set
  std::vector<uint32_t> node_of_site;  // in nodes

 private:
  void Add(const ProfileSite& site) {
    // Two copies of a node may be needed: one under the root, one for what is kept by design.
    const size_t variant = site.runtime_reason == nullptr ? 0 : 1;
    uint32_t top = 0;
    if (variant == 1) {
      top = Child(Child(0, Row(kRuntimeRow)), Row(site.runtime_reason));
      // Sites of different reasons may share outer frames: the memo holds for one reason only.
      if (top != runtime_top_) {
        runtime_top_ = top;
        std::fill(merged_of_[1].begin(), merged_of_[1].end(), kNone);
        merged_of_[1][0] = top;
      }
    }
    node_of_site.push_back(MergedOf(variant, site.node));
    PageNode& figures = nodes[node_of_site.back()].figures;
    AddFigures(figures, site);
    figures.variances += site.variances;
    figures.history = SumOf(figures.history, site.history);
  }

  uint32_t MergedOf(size_t variant, uint32_t node) {
    std::vector<uint32_t>& memo = merged_of_[variant];
    std::vector<uint32_t> path;  // innermost first
    while (memo[node] == kNone) {
      path.push_back(node);
      node = profile_.nodes[node].parent;
    }
    uint32_t merged = memo[node];
    for (auto it = path.rbegin(); it != path.rend(); ++it) {
      const ProfileFrame& frame = profile_.frames[profile_.nodes[*it].frame];
      merged = Child(merged, NameOf(frame));
      if (frame.line != 0) nodes[merged].lines.insert(frame.line);
      if (!frame.inlined) nodes[merged].inlined = false;
      memo[*it] = merged;
    }
    return merged;
  }

  uint32_t NameOf(const ProfileFrame& frame) {
    const std::string module =
        frame.module == kNoModule ? std::string() : profile_.modules[frame.module].path;
    return Name(
        {frame.function, frame.file, module, "", 0, ClassifyFrame(frame.function, module), false});
  }

  uint32_t Row(std::string text) {
    return Name({std::move(text), "", "", "", 0, FrameKind::kRow, false});
  }

  uint32_t Name(PageFrame frame) {
    // NUL can't occur in a path; in a function it would only merge two hostile names.
    std::string key = frame.function + '\0' + frame.file + '\0' + frame.module;
    const auto [it, is_new] =
        name_index_.try_emplace(std::move(key), static_cast<uint32_t>(names.size()));
    if (is_new) names.push_back(std::move(frame));
    return it->second;
  }

  uint32_t Child(uint32_t parent, uint32_t name) {
    const uint64_t key = (uint64_t{parent} << 32) | name;
    const auto [it, is_new] = child_index_.try_emplace(key, static_cast<uint32_t>(nodes.size()));
    if (is_new) {
      MergedNode node;
      node.parent = parent;
      node.name = name;
      node.inlined = names[name].kind != FrameKind::kRow;
      nodes.push_back(std::move(node));
    }
    return it->second;
  }

  const Profile& profile_;
  std::vector<uint32_t> merged_of_[2];
  uint32_t runtime_top_ = kNone;
  std::unordered_map<std::string, uint32_t> name_index_;
  std::unordered_map<uint64_t, uint32_t> child_index_;
};

// Never in the middle of a UTF-8 sequence.
std::string Shortened(const std::string& text) {
  if (text.size() <= kMaxTextBytes) return text;
  size_t end = kMaxTextBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return fmt::format("{}… [{} bytes cut]", text.substr(0, end), text.size() - end);
}

std::string LinesText(const std::set<uint32_t>& lines) {
  const auto shown = static_cast<std::ptrdiff_t>(std::min(lines.size(), kLinesShown));
  std::string text =
      fmt::format("{}", fmt::join(lines.begin(), std::next(lines.begin(), shown), ", "));
  if (lines.size() > kLinesShown) text += fmt::format(", … ({} lines)", lines.size());
  return text;
}

// A node matters by its largest share of any figure, so that what is small at the peak but is most
// of the leak stays. Shares are inclusive: no node matters more than its parent.
std::vector<double> Importance(const std::vector<MergedNode>& nodes) {
  std::vector<Figures> sums(nodes.size());
  for (size_t i = nodes.size(); i-- > 0;) {
    AddFigures(sums[i], nodes[i].figures);
    if (i != 0) AddFigures(sums[nodes[i].parent], sums[i]);
  }
  std::vector<double> importance(nodes.size(), 0);
  auto share = [](uint64_t part, uint64_t whole) {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  for (const Figure figure : kAllFigures) {
    const Count all = FigureOf(sums[0], figure);
    for (size_t i = 0; i < nodes.size(); ++i) {
      const Count& part = FigureOf(sums[i], figure);
      importance[i] = std::max(
          {importance[i], share(part.bytes, all.bytes), share(part.allocations, all.allocations)});
    }
  }
  return importance;
}

// Which nodes stay. A node that stays has its parent there; rows "[pruned]" are counted.
std::vector<bool> ChooseKept(const Merger& merger, const PageLimits& limits) {
  const std::vector<MergedNode>& nodes = merger.nodes;
  const std::vector<double> importance = Importance(nodes);
  std::vector<uint32_t> order(nodes.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  // Stable: of equals the parent, which has the smaller index, comes first.
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return importance[a] > importance[b]; });
  std::vector<uint32_t> folded_children(nodes.size(), 0);
  for (size_t i = 1; i < nodes.size(); ++i) ++folded_children[nodes[i].parent];

  std::vector<bool> kept(nodes.size(), false);
  std::vector<bool> name_counted(merger.names.size(), false);
  size_t count = 0;
  size_t bytes = 0;
  for (uint32_t node : order) {
    size_t more = 1 + (folded_children[node] > 0 ? 1 : 0);
    if (node != 0 && folded_children[nodes[node].parent] == 1) --more;  // its parent's row goes
    size_t more_bytes = more * kNodeBytes;
    const uint32_t name = nodes[node].name;
    if (node != 0 && !name_counted[name]) {
      const PageFrame& frame = merger.names[name];
      // In JSON a '<' or a control character takes up to 6 bytes; names are mostly letters.
      more_bytes += kNodeBytes + 2 * std::min(frame.function.size(), kMaxTextBytes) +
                    std::min(frame.file.size(), kMaxTextBytes);
    }
    if (node != 0 && (count + more > limits.max_nodes || bytes + more_bytes > limits.max_bytes)) {
      break;
    }
    kept[node] = true;
    if (node != 0) {
      name_counted[name] = true;
      --folded_children[nodes[node].parent];
    }
    count += more;
    bytes += more_bytes;
  }
  return kept;
}

class Builder {
 public:
  explicit Builder(const Merger& merger) : merger_(merger) {}

  PageTree Build(const std::vector<bool>& kept) {
    std::vector<uint32_t> place(merger_.nodes.size(), 0);  // in tree_, of a folded one: its row
    std::vector<uint32_t> pruned_row(merger_.nodes.size(), kNone);
    for (size_t i = 0; i < merger_.nodes.size(); ++i) {
      const MergedNode& node = merger_.nodes[i];
      if (kept[i]) {
        place[i] = Append(i == 0 ? 0 : place[node.parent], i == 0 ? 0 : FrameOf(node));
      } else if (!kept[node.parent]) {
        place[i] = place[node.parent];
        ++tree_.pruned_nodes;
      } else {
        uint32_t& row = pruned_row[node.parent];
        if (row == kNone) row = Append(place[node.parent], PrunedFrame());
        place[i] = row;
        ++tree_.pruned_nodes;
      }
      PageNode& out = tree_.nodes[place[i]];
      AddFigures(out, node.figures);
      out.variances += node.figures.variances;
      out.history = SumOf(out.history, node.figures.history);
    }
    for (const uint32_t node : merger_.node_of_site) tree_.node_of_site.push_back(place[node]);
    return std::move(tree_);
  }

 private:
  uint32_t Append(uint32_t parent, uint32_t frame) {
    PageNode node;
    node.parent = parent;
    node.frame = frame;
    tree_.nodes.push_back(node);
    return static_cast<uint32_t>(tree_.nodes.size() - 1);
  }

  uint32_t FrameOf(const MergedNode& node) {
    std::string lines = LinesText(node.lines);
    std::string key = fmt::format("{}/{}/{}", node.name, node.inlined ? 1 : 0, lines);
    const auto [it, is_new] =
        frame_index_.try_emplace(std::move(key), static_cast<uint32_t>(tree_.frames.size()));
    if (is_new) {
      PageFrame frame = merger_.names[node.name];
      frame.function = Shortened(frame.function);
      frame.file = Shortened(frame.file);
      frame.module = Shortened(frame.module);
      frame.lines = std::move(lines);
      if (!node.lines.empty()) frame.line = *node.lines.begin();
      frame.inlined = node.inlined;
      tree_.frames.push_back(std::move(frame));
    }
    return it->second;
  }

  uint32_t PrunedFrame() {
    if (pruned_frame_ == kNone) {
      pruned_frame_ = static_cast<uint32_t>(tree_.frames.size());
      tree_.frames.push_back({kPrunedRow, "", "", "", 0, FrameKind::kRow, false});
    }
    return pruned_frame_;
  }

  const Merger& merger_;
  PageTree tree_;
  std::unordered_map<std::string, uint32_t> frame_index_;
  uint32_t pruned_frame_ = kNone;
};

}  // namespace

PageTree MakePageTree(const Profile& profile, const PageLimits& limits) {
  const Merger merger(profile);
  return Builder(merger).Build(ChooseKept(merger, limits));
}

}  // namespace memprof
