#include "cli/web/page_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <unordered_map>
#include <utility>

#include "core/tree/pruned_tree.h"

namespace memprof {
namespace {

constexpr uint32_t kNoFrame = 0xffffffffu;
constexpr size_t kLinesShown = 8;
// The average size of a node in the page: parent, frame, and figures for every third one. PageData
// measures the real size.
constexpr size_t kNodeBytes = 32;

std::string LinesText(const std::set<uint32_t>& lines) {
  const auto shown = static_cast<std::ptrdiff_t>(std::min(lines.size(), kLinesShown));
  std::string text =
      fmt::format("{}", fmt::join(lines.begin(), std::next(lines.begin(), shown), ", "));
  if (lines.size() > kLinesShown) text += fmt::format(", … ({} lines)", lines.size());
  return text;
}

// The room in the page, which nodes that stay take. Rows "[pruned]" count.
class Room {
 public:
  Room(const MergedTree& merged, const PageLimits& limits)
      : merged_(merged),
        limits_(limits),
        folded_children_(merged.nodes.size(), 0),
        name_counted_(merged.names.size(), false) {
    for (uint32_t i = 1; i < merged.nodes.size(); ++i) ++folded_children_[merged.nodes[i].parent];
  }

  // Returns whether there is room for this one too, and takes it. Pre: its parent was taken.
  bool Take(uint32_t node) {
    const auto [parent, name] = std::pair(merged_.nodes[node].parent, merged_.nodes[node].frame);
    size_t more = 1 + (folded_children_[node] > 0 ? 1 : 0);
    if (node != 0 && folded_children_[parent] == 1) --more;  // its parent's row goes
    size_t more_bytes = more * kNodeBytes;
    if (node != 0 && !name_counted_[name]) {
      const FunctionName& frame = merged_.names[name];
      // In JSON a '<' or a control character takes up to 6 bytes; names are mostly letters.
      more_bytes += kNodeBytes + 2 * std::min(frame.function.size(), kMaxTextBytes) +
                    std::min(frame.file.size(), kMaxTextBytes);
    }
    if (node != 0) {
      if (count_ + more > limits_.max_nodes || bytes_ + more_bytes > limits_.max_bytes) {
        return false;
      }
      name_counted_[name] = true;
      --folded_children_[parent];
    }
    count_ += more;
    bytes_ += more_bytes;
    return true;
  }

 private:
  const MergedTree& merged_;
  const PageLimits& limits_;
  std::vector<uint32_t> folded_children_;
  std::vector<bool> name_counted_;
  size_t count_ = 0;
  size_t bytes_ = 0;
};

PrunedTree PruneToFit(const MergedTree& merged, const PageLimits& limits) {
  Room room(merged, limits);
  return Prune(merged.nodes, merged.by_importance,
               [&room](uint32_t node) { return room.Take(node); });
}

class Builder {
 public:
  Builder(const Profile& profile, const MergedTree& merged) : profile_(profile), merged_(merged) {}

  PageTree Build(const PrunedTree& pruned) {
    const std::vector<Lines> lines = LinesOf(pruned);
    for (size_t i = 0; i < pruned.nodes.size(); ++i) {
      const PrunedNode& node = pruned.nodes[i];
      PageNode& out = tree_.nodes.emplace_back();
      out.parent = node.parent;
      if (i == 0) continue;  // the root
      out.frame = node.node == PrunedNode::kRow ? PrunedFrame()
                                                : FrameOf(merged_.nodes[node.node].frame, lines[i]);
    }
    for (size_t i = 0; i < profile_.sites.size(); ++i) {
      const ProfileSite& site = profile_.sites[i];
      const uint32_t place = pruned.place[merged_.node_of_site[i]];
      PageNode& out = tree_.nodes[place];
      AddFigures(out, site);
      out.variances += site.variances;
      out.history = SumOf(out.history, site.history);
      tree_.node_of_site.push_back(place);
    }
    tree_.pruned_nodes = pruned.folded_nodes;
    return std::move(tree_);
  }

 private:
  struct Lines {
    std::set<uint32_t> all;
    bool not_inlined = false;
  };

  // For each node that stays, the lines of the profile's frames at its place.
  std::vector<Lines> LinesOf(const PrunedTree& pruned) const {
    std::vector<Lines> lines(pruned.nodes.size());
    for (const MergedFrame& at : merged_.frames) {
      const uint32_t place = pruned.place[at.node];
      if (pruned.nodes[place].node != at.node) continue;  // folded
      const ProfileFrame& frame = profile_.frames[at.frame];
      if (frame.line != 0) lines[place].all.insert(frame.line);
      if (!frame.inlined) lines[place].not_inlined = true;
    }
    return lines;
  }

  uint32_t FrameOf(uint32_t name, const Lines& lines) {
    const bool inlined = merged_.names[name].kind != FrameKind::kRow && !lines.not_inlined;
    std::string text = LinesText(lines.all);
    std::string key = fmt::format("{}/{}/{}", name, inlined ? 1 : 0, text);
    const auto [it, is_new] =
        frame_index_.try_emplace(std::move(key), static_cast<uint32_t>(tree_.frames.size()));
    if (is_new) {
      PageFrame frame = {merged_.names[name], std::move(text)};
      frame.function = Shortened(frame.function);
      frame.file = Shortened(frame.file);
      frame.module = Shortened(frame.module);
      if (!lines.all.empty()) frame.line = *lines.all.begin();
      frame.inlined = inlined;
      tree_.frames.push_back(std::move(frame));
    }
    return it->second;
  }

  uint32_t PrunedFrame() {
    if (pruned_frame_ == kNoFrame) {
      pruned_frame_ = static_cast<uint32_t>(tree_.frames.size());
      tree_.frames.push_back({{kPrunedRow, "", "", FrameKind::kRow}, ""});
    }
    return pruned_frame_;
  }

  const Profile& profile_;
  const MergedTree& merged_;
  PageTree tree_;
  std::unordered_map<std::string, uint32_t> frame_index_;
  uint32_t pruned_frame_ = kNoFrame;
};

}  // namespace

std::string Shortened(const std::string& text) {
  if (text.size() <= kMaxTextBytes) return text;
  size_t end = kMaxTextBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return fmt::format("{}… [{} bytes cut]", text.substr(0, end), text.size() - end);
}

PageTree MakePageTree(const Profile& profile, const MergedTree& merged, const PageLimits& limits) {
  return Builder(profile, merged).Build(PruneToFit(merged, limits));
}

}  // namespace memprof
