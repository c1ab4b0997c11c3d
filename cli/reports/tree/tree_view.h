// TreeView: the state of the interactive tree without a terminal: the lines of a call tree whose
// nodes the reader opens and closes, and the effect of keys.
//
// Invariants
//   1. The figure of an open line is the sum of the lines directly below it.
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
    std::string label = {};   // for a row that is no function
    std::string branch = {};  // "│ ├ ", in front of the name
    bool can_open = false;
    bool is_open = false;
  };

  // Opens the root, and the nodes below it as long as there is only one child.
  explicit TreeView(CallTree tree);

  const CallTree& tree() const { return tree_; }
  const std::vector<Line>& lines() const { return lines_; }
  size_t cursor() const { return cursor_; }
  CallTreeName NameOf(const Line& line) const;  // of a node, with "×17" behind a recursion

  void MoveTo(size_t line);  // the last one if there are fewer
  void MoveBy(long lines);
  void Toggle();
  void Open();   // if it is open: moves down to its first line
  void Close();  // if it is closed: moves up to the parent
  void
  ToggleSubtree();  // opens or closes everything below; opens at most kMostOpened nodes at once
  void SortBy(SortKey sort);

  enum class Match { kHeaviest, kNext, kPrevious };
  // Moves to a line whose function, place or module contains the text, ignoring case, and opens the
  // nodes above it: the one with the largest figure, or the one after or before the cursor. False
  // if there is none.
  bool Find(const std::string& text, Match which);

  // Shows another tree, as a new view does.
  void Show(CallTree tree);

  static constexpr size_t kMostOpened = 100'000;

 private:
  bool Has(uint32_t node, const std::string& lower_case) const;
  void GoTo(uint32_t node);
  void Update();  // rebuilds lines_; the cursor stays at its node
  void OpenOnlyWay(uint32_t node);
  bool IsOpen(uint32_t node) const { return open_[node]; }

  CallTree tree_;
  std::vector<bool> open_;  // of nodes
  std::vector<Line> lines_;
  size_t cursor_ = 0;
};

}  // namespace memprof
