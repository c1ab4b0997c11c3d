#include "cli/reports/tree/call_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <queue>
#include <utility>

#include "core/frame_kind.h"
#include "core/tree/interned_tree.h"
#include "core/tree/path_to_root.h"
#include "core/units.h"

namespace memprof {

class CallTree::Builder {
 public:
  Builder(CallTree& tree, const Profile& profile, const CallTreeOptions& options)
      : tree_(tree), profile_(profile), options_(options) {
    NameId({"total", ""});  // the root's
    runtime_name_ = NameId({kRuntimeRow, ""});
    for (const ProfileFrame& frame : profile.frames) {
      const std::string module =
          frame.module < profile.modules.size() ? profile.modules[frame.module].path : "";
      frame_names_.push_back(
          NameId({frame.function, PlaceOf(frame.function, frame.file, frame.line, module),
                  frame.file, frame.line, module}));
      folded_.push_back(!options.all_frames &&
                        ClassifyFrame(frame.function, module) == FrameKind::kSystem);
    }
  }

  std::vector<CallTreeNode> Build() {
    for (const ProfileSite& site : profile_.sites) Add(site);
    std::vector<CallTreeNode> nodes = std::move(merged_).Take();
    for (uint32_t i = 1; i < nodes.size(); ++i) nodes[nodes[i].parent].children.push_back(i);
    return nodes;
  }

 private:
  struct Step {
    uint32_t name = 0;
    uint32_t calls = 1;  // of it in a row
  };

  void Add(const ProfileSite& site) {
    const Count& figure = FigureOf(site, options_.figure);
    if (figure == Count()) return;
    uint32_t at = 0;
    Book(at, figure, site);
    std::vector<Step> path = PathOf(site);
    if (!options_.bottom_up) std::reverse(path.begin(), path.end());
    for (const Step& step : path) {
      at = merged_.Child(at, step.name);
      merged_[at].calls = std::max(merged_[at].calls, step.calls);
      Book(at, figure, site);
    }
    merged_[at].own += figure;
    merged_[at].own_variance += FigureOf(site.variances, options_.figure);
  }

  // Innermost first.
  std::vector<Step> PathOf(const ProfileSite& site) const {
    if (site.runtime_reason != nullptr && !options_.show_runtime) return {{runtime_name_}};
    std::vector<Step> path;
    for (const uint32_t node : PathToRoot(profile_.nodes, site.node)) {
      const uint32_t frame = profile_.nodes[node].frame;
      if (folded_[frame]) continue;
      const uint32_t name = frame_names_[frame];
      if (!options_.all_frames && !path.empty() && IsSameFunction(path.back().name, name)) {
        ++path.back().calls;
      } else {
        path.push_back({name});
      }
    }
    if (path.empty() && site.node != 0) {
      path.push_back({frame_names_[profile_.nodes[site.node].frame]});
    }
    return path;
  }

  bool IsSameFunction(uint32_t a, uint32_t b) const {
    if (a == b) return true;
    const CallTreeName& x = tree_.names_[a];
    const CallTreeName& y = tree_.names_[b];
    return x.function == y.function && x.module == y.module && x.file == y.file;
  }

  void Book(uint32_t node, const Count& figure, const ProfileSite& site) {
    CallTreeNode& booked = merged_[node];
    booked.figure += figure;
    booked.total_bytes += site.total.bytes;
    booked.variance += FigureOf(site.variances, options_.figure);
    if (options_.figure == Figure::kLeaked && site.of_running_threads) {
      booked.of_running_threads += figure;
    }
  }

  uint32_t NameId(const CallTreeName& name) {
    const auto [at, fresh] = name_ids_.emplace(name, static_cast<uint32_t>(tree_.names_.size()));
    if (fresh) tree_.names_.push_back(name);
    return at->second;
  }

  CallTree& tree_;
  const Profile& profile_;
  const CallTreeOptions& options_;
  uint32_t runtime_name_ = 0;
  std::vector<uint32_t> frame_names_;  // of the profile's frames
  std::vector<bool> folded_;
  std::map<CallTreeName, uint32_t> name_ids_;
  InternedTree<CallTreeNode> merged_;
};

CallTree::CallTree(const Profile& profile, const CallTreeOptions& options)
    : own_label_(options.bottom_up ? "[no caller]" : "[itself]") {
  nodes_ = Builder(*this, profile, options).Build();
  for (uint32_t i = 1; i < nodes_.size(); ++i) {
    const auto is_running = [](const CallTreeNode& node) {
      return node.of_running_threads != Count() && node.of_running_threads == node.figure;
    };
    const uint32_t parent = nodes_[i].parent;
    nodes_[i].marked = is_running(nodes_[i]) && (parent == 0 || !is_running(nodes_[parent]));
  }
  Sort(options.sort);
  Show(options.rows, options.sort);
}

std::string CallTree::LabelOf(const CallTreeNode& node) const {
  const std::string& function = NameOf(node).function;
  const std::string mark = node.marked ? " [still ran]" : "";
  return (node.calls > 1 ? fmt::format("{} ×{}", function, FormatCount(node.calls)) : function) +
         mark;
}

std::vector<CallTreeLine> CallTree::LinesBelow(const CallTreeNode& node) const {
  std::vector<CallTreeLine> lines;
  if (node.children.empty()) return lines;
  CallTreeLine rest;
  size_t hidden = 0;
  uint64_t own_total = node.total_bytes;
  for (const uint32_t child : node.children) {
    const CallTreeNode& below = nodes_[child];
    own_total -= below.total_bytes;
    if (below.shown) {
      lines.push_back({child, below.figure, below.total_bytes, below.variance});
    } else {
      rest.figure += below.figure;
      rest.total_bytes += below.total_bytes;
      rest.variance += below.variance;
      ++hidden;
    }
  }
  if (node.own != Count()) {
    lines.push_back({0, node.own, own_total, node.own_variance, own_label_});
  }
  rest.label = fmt::format("[{} more]", FormatCount(hidden));
  if (hidden != 0) lines.push_back(rest);
  return lines;
}

bool CallTree::Before(uint32_t a, uint32_t b, SortKey sort) const {
  const CallTreeNode& x = nodes_[a];
  const CallTreeNode& y = nodes_[b];
  uint64_t left = 0;
  uint64_t right = 0;
  switch (sort) {
    case SortKey::kBytes:
      left = x.figure.bytes;
      right = y.figure.bytes;
      break;
    case SortKey::kAllocations:
      left = x.figure.allocations;
      right = y.figure.allocations;
      break;
    case SortKey::kTotal:
      left = x.total_bytes;
      right = y.total_bytes;
      break;
    case SortKey::kFunction:
      break;
  }
  if (left != right) return left > right;
  // By name, so that a report is the same every time.
  return x.frame != y.frame ? NameOf(x) < NameOf(y) : a < b;
}

void CallTree::Sort(SortKey sort) {
  for (CallTreeNode& node : nodes_) {
    std::sort(node.children.begin(), node.children.end(),
              [&](uint32_t a, uint32_t b) { return Before(a, b, sort); });
  }
}

// Shows the heaviest nodes; a node is shown only if its parent is. If the order is by name, weights
// are bytes.
void CallTree::Show(size_t rows, SortKey sort) {
  const SortKey weight = sort == SortKey::kFunction ? SortKey::kBytes : sort;
  auto lighter = [&](uint32_t a, uint32_t b) { return Before(b, a, weight); };
  std::priority_queue<uint32_t, std::vector<uint32_t>, decltype(lighter)> open(lighter);
  open.push(0);
  for (size_t left = rows == 0 ? nodes_.size() : rows + 1; left > 0 && !open.empty(); --left) {
    const uint32_t node = open.top();
    open.pop();
    nodes_[node].shown = true;
    for (const uint32_t child : nodes_[node].children) open.push(child);
  }
}

}  // namespace memprof
