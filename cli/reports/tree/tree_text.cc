#include "cli/reports/tree/tree_text.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "cli/reports/exactness.h"
#include "cli/terminal/text_table.h"
#include "core/units.h"

namespace memprof {
namespace {

class Printer {
 public:
  Printer(const CallTree& tree, bool estimates, const TextStyle& style)
      : tree_(tree),
        style_(style),
        table_({{estimates ? "≈ bytes" : "bytes", estimates ? 17u : 10u, 1},
                {"share", 6, 1},
                {estimates ? "≈ blocks" : "blocks", 10}},
               "function", style) {}

  std::string Text() {
    const CallTreeNode& root = tree_.nodes()[0];
    text_ = table_.Headings() + "\n";
    Line(root.figure, root.variance, "", Bold("total", style_));
    // An explicit stack: the tree may be deeper than ours.
    std::vector<Open> open;
    open.push_back({tree_.LinesBelow(root)});
    while (!open.empty()) {
      Open& top = open.back();
      if (top.next == top.lines.size()) {
        open.pop_back();
        continue;
      }
      const CallTreeLine line = top.lines[top.next++];
      // A chain of single callees is drawn straight down.
      const bool chain = top.lines.size() == 1;
      const bool last = top.next == top.lines.size();
      const std::string branch = chain ? "" : last ? "└ " : "├ ";
      const std::string below = top.prefix + (chain ? "" : last ? "  " : "│ ");
      const std::string prefix = Indent(top.prefix) + branch;
      if (line.node == 0) {
        Line(line.figure, line.variance, prefix, Dim(line.label, style_));
        continue;
      }
      const CallTreeNode& node = tree_.nodes()[line.node];
      Line(line.figure, line.variance, prefix, Name(node, Columns(prefix)));
      open.push_back({tree_.LinesBelow(node), 0, below});
    }
    return std::move(text_);
  }

 private:
  struct Open {
    std::vector<CallTreeLine> lines;
    size_t next = 0;
    std::string prefix = {};
  };

  // At great depth only the innermost branches are drawn, so that names keep their room.
  std::string Indent(const std::string& prefix) const {
    const size_t most =
        style_.width > table_.Indent() + 60 ? style_.width - table_.Indent() - 50 : 10;
    return ShortenedFront(prefix, most);
  }

  std::string Name(const CallTreeNode& node, size_t prefix) const {
    const std::string label = Printable(tree_.LabelOf(node));
    const size_t used = table_.Indent() + prefix;
    const size_t room = std::max<size_t>(style_.width > used ? style_.width - used : 0, 20);
    const std::string place = ShortenedFront(Printable(tree_.NameOf(node).place), room / 2);
    if (place.empty()) return Shortened(label, room);
    const std::string function = Shortened(label, room - Columns(place) - 2);
    return function + "  " + Dim(place, style_);
  }

  void Line(const Count& figure, const Variance& variance, const std::string& prefix,
            const std::string& name) {
    const uint64_t error = StandardError(variance).bytes;
    text_ += table_.Figures({FormatBytesWithError(figure.bytes, error),
                             FormatShare(figure.bytes, tree_.nodes()[0].figure.bytes),
                             FormatCount(figure.allocations)}) +
             prefix + name + "\n";
  }

  const CallTree& tree_;
  const TextStyle& style_;
  const TextTable table_;
  std::string text_;
};

}  // namespace

std::string TreeText(const Profile& profile, const CallTreeOptions& options,
                     const TextStyle& style) {
  const CallTree tree(profile, options);
  return ProcessHead(profile, style) + SamplingHead(profile, style) + MomentHead(profile, style) +
         Printer(tree, profile.tracker.sample_bytes != 0, style).Text();
}

}  // namespace memprof
