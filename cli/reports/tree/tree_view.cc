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

TreeView::TreeView(CallTree tree)
    : tree_(std::move(tree)), open_(tree_.nodes().size()), parent_(tree_.nodes().size()) {
  for (uint32_t node = 0; node < parent_.size(); ++node) {
    for (const uint32_t child : tree_.nodes()[node].children) parent_[child] = node;
  }
  OpenOnlyWay(0);
  Update();
}

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
  return tree_.NameOf(tree_.nodes()[line.node]);
}

void TreeView::Update() {
  // Where the cursor is, by node: lines move.
  const bool had_lines = !lines_.empty();
  const Line at = had_lines ? lines_[cursor_] : Line();
  lines_.clear();
  struct Below {
    Line line;
    std::string prefix;  // of what is below it
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
  // Its own line, else that of the nearest node above it.
  auto line_of = [&](uint32_t node, const std::string& label, uint32_t parent) {
    return std::find_if(lines_.begin(), lines_.end(), [&](const Line& line) {
      return line.node == node && line.label == label && (label.empty() || line.parent == parent);
    });
  };
  auto found = line_of(at.node, at.label, at.parent);
  for (uint32_t node = at.label.empty() ? at.node : at.parent; found == lines_.end();
       node = parent_[node]) {
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
  const uint32_t above = line.label.empty() ? parent_[line.node] : line.parent;
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

bool TreeView::Find(const std::string& text, bool forwards) {
  const std::string wanted = LowerCase(text);
  if (wanted.empty()) return false;
  // All nodes in the order in which they would be drawn, were all open.
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
      static_cast<size_t>(std::find(order.begin(), order.end(), here) - order.begin());
  for (size_t step = 1; step <= order.size(); ++step) {
    const size_t at = (start + (forwards ? step : order.size() - step)) % order.size();
    const uint32_t node = order[at];
    const CallTreeName& name = tree_.NameOf(tree_.nodes()[node]);
    if (node == 0 || (LowerCase(name.function).find(wanted) == std::string::npos &&
                      LowerCase(name.place).find(wanted) == std::string::npos &&
                      LowerCase(name.module).find(wanted) == std::string::npos)) {
      continue;
    }
    for (uint32_t above = node; above != 0;) {
      above = parent_[above];
      open_[above] = true;
    }
    Update();
    const auto found = std::find_if(lines_.begin(), lines_.end(), [&](const Line& other) {
      return other.label.empty() && other.node == node;
    });
    cursor_ = static_cast<size_t>(found - lines_.begin());
    return true;
  }
  return false;
}

}  // namespace memprof
