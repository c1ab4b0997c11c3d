#include "core/inspect/dominators.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace memprof {
namespace {

constexpr uint32_t kUnseen = ~uint32_t{0};

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
  void NumberNodes() {
    nodes_.push_back(graph_.nodes());
    parent_.push_back(0);
    for (uint32_t root = graph_.blocks; root < graph_.nodes(); ++root) NumberFrom(root);
    for (const uint32_t block : also_from_) {
      if (number_[block] == kUnseen) NumberFrom(block);
    }
  }

  void Enter(uint32_t node, uint32_t parent) {
    number_[node] = static_cast<uint32_t>(nodes_.size());
    nodes_.push_back(node);
    parent_.push_back(parent);
    steps_.push_back({node, graph_.first[node]});
  }

  void NumberFrom(uint32_t start) {
    Enter(start, 0);
    while (!steps_.empty()) {
      auto& [node, next] = steps_.back();
      if (next == graph_.first[node + 1]) {
        steps_.pop_back();
        continue;
      }
      const uint32_t target = graph_.targets[next++];
      if (number_[target] == kUnseen) Enter(target, number_[node]);
    }
  }

  // Turns the pointers round: the nodes that point to each node, by their numbers.
  void FindSources() {
    const size_t count = nodes_.size();
    first_source_.assign(count + 1, 0);
    const auto for_each = [&](auto visit) {
      for (uint32_t i = 1; i < count; ++i) {
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
  std::vector<std::pair<uint32_t, uint64_t>> steps_;
  std::vector<uint64_t> first_source_;
  std::vector<uint32_t> sources_;
};

}  // namespace

Dominators FindDominators(const HeapGraph& graph, const std::vector<uint32_t>& also_from) {
  return DominatorSearch(graph, also_from).Find();
}

}  // namespace memprof
