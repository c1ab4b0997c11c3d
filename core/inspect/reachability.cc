#include "core/inspect/reachability.h"

#include <algorithm>

namespace memprof {
namespace {

constexpr size_t kAhead = 8;

// Visits all blocks that are reached from those in `order` at `from` and later.
void Flood(const HeapGraph& graph, Reachability& found, std::vector<bool>& seen, size_t from) {
  for (size_t i = from; i < found.order.size(); ++i) {
    const uint32_t block = found.order[i];
    // Blocks lie anywhere: what is needed soon is fetched.
    if (found.order.size() - i > 2 * kAhead) {
      __builtin_prefetch(&graph.first[found.order[i + 2 * kAhead]]);
    }
    if (found.order.size() - i > kAhead) {
      __builtin_prefetch(graph.TargetsOf(found.order[i + kAhead]).data());
    }
    for (const uint32_t target : graph.TargetsOf(block)) {
      if (seen[target]) continue;
      seen[target] = true;
      found.holder[target] = block;
      found.of[target] = found.of[block];
      found.order.push_back(target);
    }
  }
}

// Finds groups of lost blocks that reach each other (Tarjan's algorithm, without recursion). A group
// is found after all groups that it points to.
class LostGroups {
 public:
  LostGroups(const HeapGraph& graph, Reachability& found, const std::vector<bool>& seen)
      : graph_(graph),
        found_(found),
        seen_(seen),
        number_(graph.blocks, 0),
        low_(graph.blocks, 0) {}

  void Find() {
    for (uint32_t block = 0; block < graph_.blocks; ++block) {
      if (!seen_[block] && low_[block] == 0) Visit(block);
    }
    for (const Group& group : groups_) {
      if (!group.pointed_to) found_.of[group.head] = Reach::kLostDirectly;
    }
  }

 private:
  struct Step {
    uint32_t block;
    uint64_t next;  // in the graph's targets
  };
  struct Group {
    uint32_t head;  // its first block by address
    bool pointed_to = false;
  };

  void Enter(uint32_t block) {
    number_[block] = low_[block] = ++count_;
    stack_.push_back(block);
    steps_.push_back({block, graph_.first[block]});
  }

  void Visit(uint32_t start) {
    Enter(start);
    while (!steps_.empty()) {
      Step& step = steps_.back();
      const uint32_t block = step.block;
      if (step.next < graph_.first[block + 1]) {
        const uint32_t target = graph_.targets[step.next++];
        if (seen_[target]) continue;
        if (low_[target] == kDone) {
          groups_[number_[target]].pointed_to = true;
        } else if (low_[target] == 0) {
          Enter(target);
        } else {
          low_[block] = std::min(low_[block], number_[target]);
        }
        continue;
      }
      steps_.pop_back();
      const uint32_t low = low_[block];
      if (low == number_[block]) Close(block);
      if (steps_.empty()) continue;
      if (low_[block] == kDone) {
        groups_[number_[block]].pointed_to = true;
      } else {
        uint32_t& parent = low_[steps_.back().block];
        parent = std::min(parent, low);
      }
    }
  }

  // The blocks on the stack from `block` on are a group. From now on number_ is that of the group.
  void Close(uint32_t block) {
    const auto begin = std::find(stack_.rbegin(), stack_.rend(), block).base() - 1;
    const bool is_cycle = stack_.end() - begin > 1;
    const auto group = static_cast<uint32_t>(groups_.size());
    groups_.push_back({*std::min_element(begin, stack_.end())});
    for (auto at = begin; at != stack_.end(); ++at) {
      number_[*at] = group;
      low_[*at] = kDone;
      found_.of[*at] = Reach::kLostIndirectly;
      found_.in_cycle[*at] = is_cycle;
    }
    stack_.erase(begin, stack_.end());
  }

  static constexpr uint32_t kDone = ~uint32_t{0};

  const HeapGraph& graph_;
  Reachability& found_;
  const std::vector<bool>& seen_;
  std::vector<uint32_t>
      number_;                 // in the order of visits, from 1 on; of a complete group, its index
  std::vector<uint32_t> low_;  // 0: not visited; kDone: the block's group is complete
  std::vector<uint32_t> stack_;
  std::vector<Step> steps_;
  std::vector<Group> groups_;
  uint32_t count_ = 0;
};

}  // namespace

Reachability FindReachable(const HeapGraph& graph, const std::function<bool(uint32_t)>& was_lost) {
  Reachability found;
  found.of.assign(graph.blocks, Reach::kReachable);
  found.in_cycle.assign(graph.blocks, false);
  found.holder.assign(graph.blocks, kNoNode);
  std::vector<bool> seen(graph.blocks, false);
  for (uint32_t root = graph.blocks; root < graph.nodes(); ++root) {
    for (const uint32_t target : graph.TargetsOf(root)) {
      if (seen[target]) continue;
      seen[target] = true;
      found.holder[target] = root;
      found.order.push_back(target);
    }
  }
  Flood(graph, found, seen, 0);
  if (was_lost != nullptr) {
    const size_t from = found.order.size();
    for (uint32_t block = 0; block < graph.blocks; ++block) {
      if (seen[block] || was_lost(block)) continue;
      seen[block] = true;
      found.of[block] = Reach::kDoubtful;
      found.order.push_back(block);
    }
    Flood(graph, found, seen, from);
  }
  LostGroups(graph, found, seen).Find();
  return found;
}

}  // namespace memprof
