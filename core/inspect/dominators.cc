#include "core/inspect/dominators.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace memprof {
namespace {

constexpr uint32_t kUnseen = ~uint32_t{0};
// Blocks that point to each other lie anywhere: most of the time is waiting for memory.
constexpr uint64_t kFetchedAhead = 4;  // targets of a node
constexpr uint32_t kNodesAhead = 16;

class DominatorSearch {
 public:
  DominatorSearch(const HeapGraph& graph, const std::vector<uint32_t>& also_from)
      : graph_(graph), also_from_(also_from), number_(graph.nodes(), kUnseen) {}

  Dominators Find() {
    NumberNodes();
    FindSources();
    const auto count = static_cast<uint32_t>(nodes_.size());
    std::vector<uint32_t> semi(count);
    std::iota(semi.begin(), semi.end(), 0u);
    std::vector<uint32_t> least = semi;  // the least semidominator on the way up to above_
    std::vector<uint32_t> above = parent_;
    std::vector<uint32_t> way;
    for (uint32_t i = count; i-- > 1;) {
      uint32_t best = parent_[i];
      for (uint64_t k = first_source_[i]; k < first_source_[i + 1]; ++k) {
        const uint32_t from = sources_[k];
        if (from > i) {
          for (uint32_t at = from; above[at] > i; at = above[at]) way.push_back(at);
          for (; !way.empty(); way.pop_back()) {
            const uint32_t at = way.back();
            least[at] = std::min(least[at], least[above[at]]);
            above[at] = above[above[at]];
          }
        }
        best = std::min(best, from > i ? least[from] : from);
      }
      semi[i] = least[i] = best;
    }
    for (uint32_t i = 1; i < count; ++i) {
      uint32_t& dominator = parent_[i];
      while (dominator > semi[i]) dominator = parent_[dominator];
    }
    return {std::move(nodes_), std::move(parent_)};
  }

 private:
  struct Step {
    uint32_t number;
    uint64_t next, end;  // in the graph's targets
  };

  void NumberNodes() {
    nodes_.push_back(graph_.nodes());
    parent_.push_back(0);
    for (uint32_t root = graph_.blocks; root < graph_.nodes(); ++root) NumberFrom(root);
    for (const uint32_t block : also_from_) {
      if (number_[block] == kUnseen) NumberFrom(block);
    }
  }

  void FetchTarget(uint64_t index) const {
    const uint32_t target = graph_.targets[index];
    __builtin_prefetch(&number_[target]);
    __builtin_prefetch(&graph_.first[target]);
  }

  void Enter(uint32_t node, uint32_t parent) {
    const uint64_t first = graph_.first[node];
    const uint64_t end = graph_.first[node + 1];
    for (uint64_t i = first; i < std::min(first + kFetchedAhead, end); ++i) FetchTarget(i);
    const auto number = static_cast<uint32_t>(nodes_.size());
    number_[node] = number;
    nodes_.push_back(node);
    parent_.push_back(parent);
    if (first != end) steps_.push_back({number, first, end});
  }

  void NumberFrom(uint32_t start) {
    Enter(start, 0);
    while (!steps_.empty()) {
      Step& step = steps_.back();
      if (step.next == step.end) {
        steps_.pop_back();
        continue;
      }
      if (step.end - step.next > kFetchedAhead) FetchTarget(step.next + kFetchedAhead);
      const uint32_t target = graph_.targets[step.next++];
      if (number_[target] == kUnseen) Enter(target, step.number);
    }
  }

  // In steps, each of which needs what the one before has fetched.
  void FetchNode(uint32_t number) const {
    const auto count = static_cast<uint32_t>(nodes_.size());
    if (count - number > 3 * kNodesAhead) {
      __builtin_prefetch(&graph_.first[nodes_[number + 3 * kNodesAhead]]);
    }
    if (count - number > 2 * kNodesAhead) {
      __builtin_prefetch(graph_.TargetsOf(nodes_[number + 2 * kNodesAhead]).data());
    }
    if (count - number > kNodesAhead) {
      const auto targets = graph_.TargetsOf(nodes_[number + kNodesAhead]);
      for (size_t i = 0; i < std::min<size_t>(targets.size(), kFetchedAhead); ++i) {
        __builtin_prefetch(&number_[targets[i]]);
      }
    }
  }

  // Turns the pointers round: the nodes that point to each node, by their numbers.
  void FindSources() {
    const size_t count = nodes_.size();
    first_source_.assign(count + 1, 0);
    const auto for_each = [&](auto visit) {
      for (uint32_t i = 1; i < count; ++i) {
        FetchNode(i);
        for (const uint32_t target : graph_.TargetsOf(nodes_[i])) visit(i, number_[target]);
      }
      for (const uint32_t block : also_from_) visit(0, number_[block]);
    };
    for_each([&](uint32_t, uint32_t to) { ++first_source_[to + 1]; });
    for (size_t i = 0; i < count; ++i) first_source_[i + 1] += first_source_[i];
    sources_.resize(first_source_[count]);
    std::vector<uint64_t> next(first_source_.begin(), first_source_.end() - 1);
    for_each([&](uint32_t from, uint32_t to) { sources_[next[to]++] = from; });
  }

  const HeapGraph& graph_;
  const std::vector<uint32_t>& also_from_;
  std::vector<uint32_t> number_;  // by node, in the order of the search
  std::vector<uint32_t> nodes_;   // by number
  std::vector<uint32_t> parent_;  // by number: in the search's tree; in the end the dominator
  std::vector<Step> steps_;
  std::vector<uint64_t> first_source_;
  std::vector<uint32_t> sources_;
};

}  // namespace

Dominators FindDominators(const HeapGraph& graph, const std::vector<uint32_t>& also_from) {
  return DominatorSearch(graph, also_from).Find();
}

}  // namespace memprof
