#include "cli/reports/tree/tree_view.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace memprof {
namespace {

std::string LowerCase(const std::string& text) {
  std::string lower = text;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

}  // namespace

TreeView::TreeView(CallTree tree) : tree_(std::move(tree)), open_(tree_.nodes().size()) {
  OpenOnlyWay(0);
  Update();
}

void TreeView::Show(CallTree tree) { *this = TreeView(std::move(tree)); }

void TreeView::OpenOnlyWay(uint32_t node) {
  for (;;) {
    open_[node] = true;
    const CallTreeNode& at = tree_.nodes()[node];
    if (at.children.size() != 1 || at.own != Count()) return;
    node = at.children[0];
  }
}

CallTreeName TreeView::NameOf(const Line& line) const {
  if (!line.label.empty()) return {line.label, ""};
  CallTreeName name = tree_.NameOf(tree_.nodes()[line.node]);
  name.function = tree_.LabelOf(tree_.nodes()[line.node]);
  return name;
}

void TreeView::Update() {
  // Remembers the cursor's node, because lines move.
  const bool had_lines = !lines_.empty();
  const Line at = had_lines ? lines_[cursor_] : Line();
  lines_.clear();
  struct Below {
    Line line;
    std::string prefix;  // of the lines below it
  };
  const CallTreeNode& root = tree_.nodes()[0];
  std::vector<Below> waiting = {{{0, 0, root.figure, root.variance, "", "", false, false}, ""}};
  while (!waiting.empty()) {
    Below next = std::move(waiting.back());
    waiting.pop_back();
    Line& line = next.line;
    const bool is_node = line.label.empty();
    line.can_open = is_node && !tree_.nodes()[line.node].children.empty();
    line.is_open = line.can_open && IsOpen(line.node);
    lines_.push_back(line);
    if (!line.is_open) continue;
    std::vector<CallTreeLine> below = tree_.LinesBelow(tree_.nodes()[line.node]);
    for (size_t i = below.size(); i-- > 0;) {
      // A chain of single callees is drawn straight down, as in the plain tree.
      const bool chain = below.size() == 1;
      const bool last = i + 1 == below.size();
      Line child = {below[i].node,
                    line.node,
                    below[i].figure,
                    below[i].variance,
                    std::move(below[i].label),
                    next.prefix + (chain  ? ""
                                   : last ? "└ "
                                          : "├ "),
                    false,
                    false};
      waiting.push_back({std::move(child), next.prefix + (chain ? "" : last ? "  " : "│ ")});
    }
  }
  if (!had_lines) return;
  // The node's own line, or that of its nearest ancestor.
  auto line_of = [&](uint32_t node, const std::string& label, uint32_t parent) {
    return std::find_if(lines_.begin(), lines_.end(), [&](const Line& line) {
      return line.node == node && line.label == label && (label.empty() || line.parent == parent);
    });
  };
  auto found = line_of(at.node, at.label, at.parent);
  for (uint32_t node = at.label.empty() ? at.node : at.parent; found == lines_.end();
       node = tree_.nodes()[node].parent) {
    found = line_of(node, "", 0);
  }
  cursor_ = static_cast<size_t>(found - lines_.begin());
}

void TreeView::MoveTo(size_t line) { cursor_ = std::min(line, lines_.size() - 1); }

void TreeView::MoveBy(long lines) {
  const long to = static_cast<long>(cursor_) + lines;
  MoveTo(to < 0 ? 0 : static_cast<size_t>(to));
}

void TreeView::Toggle() {
  const Line& line = lines_[cursor_];
  if (!line.can_open) return;
  if (line.is_open) {
    open_[line.node] = false;
  } else {
    OpenOnlyWay(line.node);
  }
  Update();
}

void TreeView::Open() {
  const Line& line = lines_[cursor_];
  if (line.is_open) {
    MoveBy(1);
  } else {
    Toggle();
  }
}

void TreeView::Close() {
  const Line& line = lines_[cursor_];
  if (line.is_open) {
    Toggle();
    return;
  }
  const uint32_t above = line.label.empty() ? tree_.nodes()[line.node].parent : line.parent;
  const auto at = std::find_if(lines_.begin(), lines_.end(), [&](const Line& other) {
    return other.label.empty() && other.node == above;
  });
  MoveTo(static_cast<size_t>(at - lines_.begin()));
}

void TreeView::ToggleSubtree() {
  const Line& line = lines_[cursor_];
  if (!line.can_open) return;
  std::vector<uint32_t> nodes = {line.node};
  bool all_open = true;
  for (size_t i = 0; i < nodes.size() && i < kMostOpened; ++i) {
    const std::vector<uint32_t>& children = tree_.nodes()[nodes[i]].children;
    all_open = all_open && (open_[nodes[i]] || children.empty());
    for (const uint32_t child : children) nodes.push_back(child);
  }
  for (size_t i = 0; i < nodes.size() && i < kMostOpened; ++i) open_[nodes[i]] = !all_open;
  Update();
}

void TreeView::SortBy(SortKey sort) {
  tree_.Sort(sort);
  Update();
}

bool TreeView::Has(uint32_t node, const std::string& lower_case) const {
  const CallTreeName& name = tree_.NameOf(tree_.nodes()[node]);
  return LowerCase(name.function).find(lower_case) != std::string::npos ||
         LowerCase(name.place).find(lower_case) != std::string::npos ||
         LowerCase(name.module).find(lower_case) != std::string::npos;
}

void TreeView::GoTo(uint32_t node) {
  for (uint32_t above = node; above != 0;) {
    above = tree_.nodes()[above].parent;
    open_[above] = true;
  }
  Update();
  const auto found = std::find_if(lines_.begin(), lines_.end(), [&](const Line& line) {
    return line.label.empty() && line.node == node;
  });
  cursor_ = static_cast<size_t>(found - lines_.begin());
}

bool TreeView::Find(const std::string& text, Match which) {
  const std::string wanted = LowerCase(text);
  if (wanted.empty()) return false;
  // All nodes in the order in which they would be drawn if all were open.
  std::vector<uint32_t> order;
  std::vector<uint32_t> waiting = {0};
  while (!waiting.empty()) {
    const uint32_t node = waiting.back();
    waiting.pop_back();
    order.push_back(node);
    const std::vector<uint32_t>& children = tree_.nodes()[node].children;
    waiting.insert(waiting.end(), children.rbegin(), children.rend());
  }
  const Line& line = lines_[cursor_];
  const uint32_t here = line.label.empty() ? line.node : line.parent;
  const size_t start =
      which == Match::kHeaviest
          ? 0
          : static_cast<size_t>(std::find(order.begin(), order.end(), here) - order.begin());
  uint32_t best = 0;  // the root is no match
  for (size_t step = 1; step <= order.size(); ++step) {
    const bool backwards = which == Match::kPrevious;
    const uint32_t node = order[(start + (backwards ? order.size() - step : step)) % order.size()];
    if (node == 0 || !Has(node, wanted)) continue;
    // The first of equal ones is the outermost.
    const auto& nodes = tree_.nodes();
    if (best == 0 || nodes[node].figure.bytes > nodes[best].figure.bytes) best = node;
    if (which != Match::kHeaviest) break;
  }
  if (best == 0) return false;
  GoTo(best);
  return true;
}

}  // namespace memprof
