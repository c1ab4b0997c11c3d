#include "cli/reports/tree/tree_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "cli/reports/trust.h"
#include "core/units.h"

namespace memprof {
namespace {

class Printer {
 public:
  Printer(const CallTree& tree, bool estimates, const TextStyle& style)
      : tree_(tree), estimates_(estimates), bytes_(estimates ? 17 : 10), style_(style) {}

  std::string Text() {
    const CallTreeNode& root = tree_.nodes()[0];
    text_ = Dim(fmt::format("{:>{}} {:>6} {:>10}  {}\n", estimates_ ? "≈ bytes" : "bytes", bytes_,
                            "share", estimates_ ? "≈ blocks" : "blocks", "function"),
                style_);
    Line(root.figure, root.variance, "", Bold("total", style_));
    // A stack of its own: the tree may be deeper than ours.
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
      Line(line.figure, line.variance, prefix, Name(tree_.NameOf(node), Columns(prefix)));
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

  // Deep below, only the innermost branches are drawn, so that names keep their room.
  std::string Indent(const std::string& prefix) const {
    const size_t most =
        style_.width > FigureColumns() + 60 ? style_.width - FigureColumns() - 50 : 10;
    return ShortenedFront(prefix, most);
  }

  std::string Name(const CallTreeName& name, size_t prefix) const {
    const size_t used = FigureColumns() + prefix;
    const size_t room = std::max<size_t>(style_.width > used ? style_.width - used : 0, 20);
    const std::string place = ShortenedFront(Printable(name.place), room / 2);
    if (place.empty()) return Shortened(Printable(name.function), room);
    const std::string function = Shortened(Printable(name.function), room - Columns(place) - 2);
    return function + "  " + Dim(place, style_);
  }

  void Line(const Count& figure, const Variance& variance, const std::string& prefix,
            const std::string& name) {
    const uint64_t error = StandardError(variance).bytes;
    text_ += fmt::format("{:>{}} {:>6} {:>10}  {}{}\n", FormatBytesWithError(figure.bytes, error),
                         bytes_, FormatShare(figure.bytes, tree_.nodes()[0].figure.bytes),
                         FormatCount(figure.allocations), prefix, name);
  }

  size_t FigureColumns() const { return bytes_ + 20; }

  const CallTree& tree_;
  const bool estimates_;
  const size_t bytes_;  // columns
  const TextStyle& style_;
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
