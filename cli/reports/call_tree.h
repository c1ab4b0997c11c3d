// CallTree: a profile's stacks as one tree, callers above callees, for the report in the terminal.
// Equal functions at equal places below one caller are one node.
//
// Frames of the system (frame_kind.h) are folded unless asked for: what they allocated is their
// caller's. Of a stack that is nothing else, the innermost frame stays.
//
// Invariants
//   1. A node's figure is the sum of its children's and of what it allocated itself (`own`).
//   2. nodes()[0] is the root, with the profile's total; a child has a larger index.
//   3. A node that is shown has a caller that is shown.
// Thread safety: const after construction.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/reports/rows.h"
#include "core/profile.h"

namespace memprof {

struct CallTreeOptions {
  Figure figure = Figure::kPeak;
  bool show_runtime = false;
  bool all_frames = false;
  size_t rows = 0;  // how many nodes are shown below the root; 0: all
  SortKey sort = SortKey::kBytes;
};

struct CallTreeNode {
  uint32_t name = 0;  // into names()
  Count figure = {};  // that of the options
  Count own = {};     // of it, not of the children
  uint64_t total_bytes = 0;
  std::vector<uint32_t> children = {};  // in the report's order
  bool shown = false;
  Variance variance = {}, own_variance = {};
};

struct CallTreeName {
  std::string function, place;
  auto operator<=>(const CallTreeName&) const = default;
};

class CallTree {
 public:
  CallTree(const Profile& profile, const CallTreeOptions& options);

  const std::vector<CallTreeNode>& nodes() const { return nodes_; }
  const CallTreeName& NameOf(const CallTreeNode& node) const { return names_[node.name]; }

 private:
  class Builder;

  bool Before(uint32_t a, uint32_t b, SortKey sort) const;
  void Sort(SortKey sort);
  void Show(size_t rows, SortKey sort);

  std::vector<CallTreeName> names_;
  std::vector<CallTreeNode> nodes_;
};

}  // namespace memprof
