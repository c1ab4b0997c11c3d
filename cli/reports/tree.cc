// memprof tree: the call tree as text.

#include "cli/reports/tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "cli/reports/report.h"
#include "cli/reports/view_options.h"
#include "core/units.h"

namespace memprof {
namespace {

class Printer {
 public:
  Printer(const CallTree& tree, const TextStyle& style) : tree_(tree), style_(style) {}

  std::string Text() {
    const CallTreeNode& root = tree_.nodes()[0];
    text_ = Dim(fmt::format("{:>10} {:>6} {:>10}  {}\n", "bytes", "share", "blocks", "function"),
                style_);
    Line(root.figure, "", Bold("total", style_));
    // A stack of its own: the tree may be deeper than ours.
    std::vector<Open> open;
    open.push_back(Children(root, ""));
    while (!open.empty()) {
      Open& top = open.back();
      if (top.next == top.lines.size()) {
        open.pop_back();
        continue;
      }
      const ChildLine line = top.lines[top.next++];
      // A chain of single callees is drawn straight down.
      const bool chain = top.lines.size() == 1;
      const bool last = top.next == top.lines.size();
      const std::string branch = chain ? "" : last ? "└ " : "├ ";
      const std::string below = top.prefix + (chain ? "" : last ? "  " : "│ ");
      const std::string prefix = Indent(top.prefix) + branch;
      if (line.node == 0) {
        Line(line.figure, prefix, Dim(line.label, style_));
        continue;
      }
      const CallTreeNode& node = tree_.nodes()[line.node];
      Line(line.figure, prefix, Name(tree_.NameOf(node), Columns(prefix)));
      open.push_back(Children(node, below));
    }
    return std::move(text_);
  }

 private:
  struct ChildLine {
    uint32_t node = 0;  // 0: none, a line of `label`
    Count figure = {};
    std::string label = {};
  };
  struct Open {
    std::vector<ChildLine> lines;
    size_t next = 0;
    std::string prefix = {};
  };

  Open Children(const CallTreeNode& node, std::string prefix) const {
    Open open = {{}, 0, std::move(prefix)};
    if (node.children.empty()) return open;
    ChildLine rest;
    size_t hidden = 0;
    for (const uint32_t child : node.children) {
      if (tree_.nodes()[child].shown) {
        open.lines.push_back({child, tree_.nodes()[child].figure});
      } else {
        rest.figure += tree_.nodes()[child].figure;
        ++hidden;
      }
    }
    if (node.own != Count()) open.lines.push_back({0, node.own, "[itself]"});
    rest.label = fmt::format("[{} more]", FormatCount(hidden));
    if (hidden != 0) open.lines.push_back(rest);
    return open;
  }

  // Deep below, only the innermost branches are drawn, so that names keep their room.
  std::string Indent(const std::string& prefix) const {
    const size_t most =
        style_.width > kFigureColumns + 60 ? style_.width - kFigureColumns - 50 : 10;
    return ShortenedFront(prefix, most);
  }

  std::string Name(const CallTreeName& name, size_t prefix) const {
    const size_t used = kFigureColumns + prefix;
    const size_t room = std::max<size_t>(style_.width > used ? style_.width - used : 0, 20);
    const std::string place = ShortenedFront(Printable(name.place), room / 2);
    if (place.empty()) return Shortened(Printable(name.function), room);
    const std::string function = Shortened(Printable(name.function), room - Columns(place) - 2);
    return function + "  " + Dim(place, style_);
  }

  void Line(const Count& figure, const std::string& prefix, const std::string& name) {
    text_ += fmt::format("{:>10} {:>6} {:>10}  {}{}\n", FormatBytes(figure.bytes),
                         FormatShare(figure.bytes, tree_.nodes()[0].figure.bytes),
                         FormatCount(figure.allocations), prefix, name);
  }

  static constexpr size_t kFigureColumns = 30;

  const CallTree& tree_;
  const TextStyle& style_;
  std::string text_;
};

}  // namespace

std::string TreeText(const Profile& profile, const CallTreeOptions& options,
                     const TextStyle& style) {
  const CallTree tree(profile, options);
  return Printer(tree, style).Text();
}

CommandBody SetUpTree(CLI::App& app) {
  constexpr size_t kRows = 60;
  struct Options {
    ViewOptions view;
    bool all_frames = false;
  };
  auto options = std::make_shared<Options>();
  AddViewOptions(app, options->view, kRows);
  app.add_flag("-a,--all-frames", options->all_frames,
               "Also the frames of libc, libstdc++ and allocators, which are folded else");
  return [options] {
    const ViewOptions& view = options->view;
    const auto sort = ParseSortKey(view.sort);
    if (!sort) return ExitStatusOf(sort.error());
    const CallTreeOptions tree = {view.leaks, view.show_runtime, options->all_frames, view.rows,
                                  *sort};
    return Report(view.capture, view.output, [&](const Profile& profile, const TextStyle& style) {
      return TreeText(profile, tree, style);
    });
  };
}

}  // namespace memprof
