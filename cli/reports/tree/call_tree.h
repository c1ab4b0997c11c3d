// CallTree: a profile's stacks as one tree, for the reports in the terminal: callers above callees,
// or bottom-up, the functions that allocate above who calls them. Equal functions at equal places
// below one node are one node.
//
// Frames of the system (frame_kind.h) are folded unless asked for: what they allocated is their
// caller's. If a stack is nothing else, its innermost frame stays.
//
// Invariants
//   1. A node's figure is the sum of its children's and of its `own`: what it allocated itself, or
//      bottom-up what came from nobody else.
//   2. nodes()[0] is the root, with the profile's total; a child has a larger index.
//   3. A node that is shown has a caller that is shown.
// Thread safety: none needed while it isn't sorted anew.
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
  size_t rows = 0;  // how many nodes are shown below the root; 0: all
  SortKey sort = SortKey::kBytes;
};

struct CallTreeNode {
  uint32_t name = 0;  // into names()
  Count figure = {};  // that of the options
  Count own = {};     // of it, of stacks that end here
  uint64_t total_bytes = 0;
  std::vector<uint32_t> children = {};  // in the report's order
  bool shown = false;
  Variance variance = {}, own_variance = {};
};

struct CallTreeName {
  std::string function, place;
  std::string file = {};
  uint32_t line = 0;
  std::string module = {};  // path
  auto operator<=>(const CallTreeName&) const = default;
};

// A line below a node: a child, or a row with a name.
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
  // Their figures sum to the node's: children that are shown, "[itself]" (bottom-up "[no caller]")
  // for its own beside them, and "[N more]".
  std::vector<CallTreeLine> LinesBelow(const CallTreeNode& node) const;

  // Children in another order; what is shown stays.
  void Sort(SortKey sort);

  const CallTreeName& NameOf(const CallTreeNode& node) const { return names_[node.name]; }

 private:
  class Builder;

  bool Before(uint32_t a, uint32_t b, SortKey sort) const;
  void Show(size_t rows, SortKey sort);

  const char* own_label_;
  std::vector<CallTreeName> names_;
  std::vector<CallTreeNode> nodes_;
};

}  // namespace memprof
