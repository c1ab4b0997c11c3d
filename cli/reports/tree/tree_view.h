// TreeView: what the interactive tree shows and how keys change it, without a terminal: lines of a
// call tree of which the reader opens and closes nodes.
//
// Invariants
//   1. A line's figure is the sum of the lines right below it, once it is open.
//   2. There is always at least one line, the root's, and the cursor is on a line.
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/reports/tree/call_tree.h"

namespace memprof {

class TreeView {
 public:
  struct Line {
    uint32_t node = 0;    // 0: the root, or a row of `label`
    uint32_t parent = 0;  // the node above
    Count figure = {};
    Variance variance = {};
    std::string label = {};   // of a row that is no function
    std::string branch = {};  // "│ ├ ", in front of the name
    bool can_open = false;
    bool is_open = false;
  };

  // The root, and what is below it as far as there is only one way, are open.
  explicit TreeView(CallTree tree);

  const CallTree& tree() const { return tree_; }
  const std::vector<Line>& lines() const { return lines_; }
  size_t cursor() const { return cursor_; }
  CallTreeName NameOf(const Line& line) const;

  void MoveTo(size_t line);  // the last one if there are fewer
  void MoveBy(long lines);
  void Toggle();
  void Open();   // or, if it is open, down to its first line
  void Close();  // or, if it is closed, up to the node above
  void
  ToggleSubtree();  // opens all below, or closes it if it is; at most kMostOpened nodes at once
  void SortBy(SortKey sort);

  // Moves to the next (else the previous) line after the cursor whose function, place or module
  // contains the text, without regard to case; opens what is above it. False: there is none.
  bool Find(const std::string& text, bool forwards);

  static constexpr size_t kMostOpened = 100'000;

 private:
  void Update();  // lines_, the cursor stays at its node
  void OpenOnlyWay(uint32_t node);
  bool IsOpen(uint32_t node) const { return open_[node]; }

  CallTree tree_;
  std::vector<bool> open_;        // of nodes
  std::vector<uint32_t> parent_;  // likewise
  std::vector<Line> lines_;
  size_t cursor_ = 0;
};

}  // namespace memprof
