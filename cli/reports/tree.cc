// memprof tree: the call tree as text.

#include "cli/reports/tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <queue>
#include <tuple>
#include <vector>

#include "cli/reports/load.h"
#include "cli/reports/view_options.h"
#include "core/units.h"

namespace memprof {
namespace {

struct TreeNode {
  std::string function, place;
  Count figure;  // with what is below
  Count total;
  std::vector<uint32_t> children;
  uint32_t parent = 0;
  bool shown = false;
};

class Tree {
 public:
  Tree(const Profile& profile, const TreeOptions& options) : options_(options) {
    nodes_.push_back({"total", "", {}, {}, {}, 0, true});
    for (const ProfileSite& site : profile.sites) Add(profile, site);
    for (TreeNode& node : nodes_) Sort(node.children);
    Choose();
  }

  const TreeNode& operator[](uint32_t node) const { return nodes_[node]; }

 private:
  void Add(const Profile& profile, const ProfileSite& site) {
    const Count& figure = FigureOf(site, options_.leaks);
    if (figure == Count()) return;
    std::vector<uint32_t> path;
    if (site.runtime_reason == nullptr || options_.show_runtime) {
      for (uint32_t node = site.node; node != 0; node = profile.nodes[node].parent) {
        path.push_back(profile.nodes[node].frame);
      }
    }
    uint32_t at = 0;
    Book(at, figure, site.total);
    if (path.empty()) Book(at = Child(at, kRuntimeRow, ""), figure, site.total);
    for (size_t i = path.size(); i-- > 0;) {
      const ProfileFrame& frame = profile.frames[path[i]];
      const std::string module =
          frame.module < profile.modules.size() ? profile.modules[frame.module].path : "";
      Book(at = Child(at, frame.function, PlaceOf(frame.file, frame.line, module)), figure,
           site.total);
    }
  }

  void Book(uint32_t node, const Count& figure, const Count& total) {
    nodes_[node].figure += figure;
    nodes_[node].total += total;
  }

  uint32_t Child(uint32_t parent, const std::string& function, const std::string& place) {
    const auto [at, fresh] = children_.emplace(std::make_tuple(parent, function, place),
                                               static_cast<uint32_t>(nodes_.size()));
    if (fresh) {
      nodes_[parent].children.push_back(at->second);
      nodes_.push_back({function, place, {}, {}, {}, parent, false});
    }
    return at->second;
  }

  bool Before(uint32_t a, uint32_t b) const {
    const TreeNode& x = nodes_[a];
    const TreeNode& y = nodes_[b];
    const bool by_name = std::tie(x.function, x.place) < std::tie(y.function, y.place);
    auto larger = [&](uint64_t left, uint64_t right) {
      return left != right ? left > right : by_name;
    };
    switch (options_.sort) {
      case SortKey::kBytes:
        return larger(x.figure.bytes, y.figure.bytes);
      case SortKey::kAllocations:
        return larger(x.figure.allocations, y.figure.allocations);
      case SortKey::kTotal:
        return larger(x.total.bytes, y.total.bytes);
      case SortKey::kFunction:
        break;
    }
    return by_name;
  }

  void Sort(std::vector<uint32_t>& children) const {
    std::sort(children.begin(), children.end(),
              [this](uint32_t a, uint32_t b) { return Before(a, b); });
  }

  // The heaviest lines first, each only below a caller that is shown.
  void Choose() {
    auto lighter = [this](uint32_t a, uint32_t b) {
      return nodes_[a].figure.bytes != nodes_[b].figure.bytes
                 ? nodes_[a].figure.bytes < nodes_[b].figure.bytes
                 : a > b;
    };
    std::priority_queue<uint32_t, std::vector<uint32_t>, decltype(lighter)> open(lighter);
    open.push(0);
    for (size_t left = options_.rows == 0 ? nodes_.size() : options_.rows + 1;
         left > 0 && !open.empty(); --left) {
      const uint32_t node = open.top();
      open.pop();
      nodes_[node].shown = true;
      for (const uint32_t child : nodes_[node].children) open.push(child);
    }
  }

  const TreeOptions& options_;
  std::vector<TreeNode> nodes_;
  std::map<std::tuple<uint32_t, std::string, std::string>, uint32_t> children_;
};

class Printer {
 public:
  Printer(const Tree& tree, const TextStyle& style) : tree_(tree), style_(style) {}

  std::string Text() {
    Line(tree_[0].figure, "", Bold("total", style_));
    // A stack of its own: trees may be deeper than ours.
    struct Open {
      uint32_t node;
      size_t next;
      std::string prefix;
    };
    std::vector<Open> open = {{0, 0, ""}};
    while (!open.empty()) {
      const size_t top = open.size() - 1;
      const TreeNode& node = tree_[open[top].node];
      if (open[top].next >= Shown(node)) {
        Rest(node, open[top].prefix);
        open.pop_back();
        continue;
      }
      const uint32_t child = ShownChild(node, open[top].next++);
      const bool last = open[top].next == Shown(node) && Shown(node) == node.children.size();
      // A chain of single callees is drawn straight down.
      const bool chain = node.children.size() == 1;
      const std::string branch = chain ? "" : last ? "└ " : "├ ";
      const std::string below = chain ? "" : last ? "  " : "│ ";
      Line(tree_[child].figure, open[top].prefix + branch, Name(tree_[child], open[top].prefix));
      open.push_back({child, 0, open[top].prefix + below});
    }
    return std::move(text_);
  }

 private:
  size_t Shown(const TreeNode& node) const {
    return static_cast<size_t>(std::count_if(node.children.begin(), node.children.end(),
                                             [&](uint32_t c) { return tree_[c].shown; }));
  }
  uint32_t ShownChild(const TreeNode& node, size_t index) const {
    for (const uint32_t child : node.children) {
      if (tree_[child].shown && index-- == 0) return child;
    }
    return 0;
  }

  void Rest(const TreeNode& node, const std::string& prefix) {
    Count rest;
    size_t count = 0;
    for (const uint32_t child : node.children) {
      if (tree_[child].shown) continue;
      rest += tree_[child].figure;
      ++count;
    }
    if (count != 0) Line(rest, prefix + "└ ", Dim(fmt::format("[{} more]", count), style_));
  }

  std::string Name(const TreeNode& node, const std::string& prefix) const {
    const size_t used = kFigureColumns + Columns(prefix) + 2;
    const size_t room = style_.width > used + 20 ? style_.width - used : 20;
    const std::string place = Printable(node.place);
    const size_t place_columns = Columns(place) + 2;
    const size_t name_room = room > place_columns + 12 ? room - place_columns : 12;
    std::string name = Shortened(Printable(node.function), name_room);
    return place.empty() ? name : name + "  " + Dim(place, style_);
  }

  void Line(const Count& figure, const std::string& prefix, const std::string& name) {
    text_ += fmt::format("{} {} {}  {}{}\n", PaddedLeft(FormatBytes(figure.bytes), 10),
                         PaddedLeft(FormatShare(figure.bytes, tree_[0].figure.bytes), 6),
                         PaddedLeft(FormatCount(figure.allocations), 10), prefix, name);
  }

  static constexpr size_t kFigureColumns = 30;

  const Tree& tree_;
  const TextStyle& style_;
  std::string text_;
};

}  // namespace

std::string TreeText(const Profile& profile, const TreeOptions& options, const TextStyle& style) {
  const Tree tree(profile, options);
  return Printer(tree, style).Text();
}

CommandBody SetUpTree(CLI::App& app) {
  constexpr size_t kRows = 60;
  auto options = std::make_shared<ViewOptions>();
  AddViewOptions(app, *options, kRows);
  return [options] {
    const auto sort = ParseSortKey(options->sort);
    if (!sort) return ExitStatusOf(sort.error());
    const auto profile = LoadProfile(options->capture);
    if (!profile) return ExitStatusOf(profile.error());
    const TreeOptions tree = {options->leaks, options->show_runtime, options->rows, *sort};
    return WriteOutput(options->output, TreeText(*profile, tree, StyleOfStdout()));
  };
}

}  // namespace memprof
