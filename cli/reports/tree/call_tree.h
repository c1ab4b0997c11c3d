// CallTree: a profile's stacks as one tree, for the reports in the terminal. It has callers above
// callees, or bottom-up, with the allocating functions above their callers. Equal functions at
// equal places below one node are one node.
//
// System frames (frame_kind.h) are folded unless asked for: their allocations count as their
// caller's. If a stack has only such frames, the innermost stays. A function that calls itself is one
// node, with the place of the innermost call, unless all frames are asked for.
//
// Invariants
//   1. A node's figure is the sum of its children's and of its `own`: what it allocated itself, or
//      bottom-up what has no further caller.
//   2. nodes()[0] is the root, with the profile's total; a child has a larger index.
//   3. The parent of a shown node is shown.
// Thread safety: none needed as long as nobody sorts it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/reports/rows.h"
#include "core/profile/profile.h"

namespace memprof {

struct CallTreeOptions {
  Figure figure = Figure::kPeak;
  bool show_runtime = false;
  bool all_frames = false;
  bool bottom_up = false;
  size_t rows = 0;  // number of nodes shown below the root; 0: all
  SortKey sort = SortKey::kBytes;
};

struct CallTreeNode {
  uint32_t parent = 0;
  uint32_t frame = 0;  // a name's index: NameOf
  Count figure = {};   // the figure that the options ask for
  Count own = {};      // the part of it from stacks that end here
  uint64_t total_bytes = 0;
  std::vector<uint32_t> children = {};  // in the report's order
  uint32_t calls = 1;                   // in a row, in the stack that has most; above 1: recursion
  bool shown = false;
  Variance variance = {}, own_variance = {};
  Count of_running_threads = {};  // the part of leaks, where the figure is that
  bool marked = false;            // all is of threads that still ran; the parent's isn't
};

struct CallTreeName {
  std::string function, place;
  std::string file = {};
  uint32_t line = 0;
  std::string module = {};  // path
  auto operator<=>(const CallTreeName&) const = default;
};

// A line below a node: a child, or a row with a label.
struct CallTreeLine {
  uint32_t node = 0;  // 0: none, a row of `label`
  Count figure = {};
  uint64_t total_bytes = 0;
  Variance variance = {};
  std::string label = {};
};

class CallTree {
 public:
  CallTree(const Profile& profile, const CallTreeOptions& options);

  const std::vector<CallTreeNode>& nodes() const { return nodes_; }
  // Their figures sum to the node's: the shown children, "[itself]" (bottom-up "[no caller]") for
  // its own part if there are children, and "[N more]".
  std::vector<CallTreeLine> LinesBelow(const CallTreeNode& node) const;

  // Sorts children anew; the same nodes stay shown.
  void Sort(SortKey sort);

  const CallTreeName& NameOf(const CallTreeNode& node) const { return names_[node.frame]; }
  // The function as reports show it: "Parse" or "Parse ×17"; if marked, "Parse [still ran]".
  std::string LabelOf(const CallTreeNode& node) const;

 private:
  class Builder;

  bool Before(uint32_t a, uint32_t b, SortKey sort) const;
  void Show(size_t rows, SortKey sort);

  const char* own_label_;
  std::vector<CallTreeName> names_;
  std::vector<CallTreeNode> nodes_;
};

}  // namespace memprof
