#include "core/inspect/inspection.h"

#include <algorithm>
#include <future>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "core/inspect/dominators.h"
#include "core/tree/interned_tree.h"

namespace memprof {
namespace {

// How far up a path a site is looked for, so that it is folded into its former place there.
constexpr int kFoldedWithin = 4;

struct PathNode {
  uint32_t parent = 0;
  uint32_t frame = 0;  // twice the root or the index of the site, plus one for a root
  uint32_t depth = 0;
  Count own;
};

struct RetainedNode {
  uint32_t parent = 0;
  uint32_t frame = 0;  // the index of the site
  uint32_t depth = 0;
  uint64_t own_bytes = 0;
};

// Numbers the sites in use, so that they fit into arrays.
class SiteNumbers {
 public:
  SiteNumbers(const std::vector<LiveBlock>& blocks,
              const std::function<uint32_t(uint32_t)>& site_of) {
    uint32_t cells = 0;
    for (const LiveBlock& block : blocks) cells = std::max(cells, block.cell + 1);
    std::vector<uint32_t> by_cell(cells, kNoSite);
    std::unordered_map<uint32_t, uint32_t> by_site;
    const auto number_of = [&](uint32_t site) {
      const auto [at, is_new] = by_site.try_emplace(site, static_cast<uint32_t>(sites_.size()));
      if (is_new) sites_.push_back(site);
      return at->second;
    };
    of_.reserve(blocks.size());
    for (const LiveBlock& block : blocks) {
      if (block.inherited) {  // its cell is one of the parent's region
        of_.push_back(number_of(kNoSite));
        continue;
      }
      uint32_t& number = by_cell[block.cell];
      if (number == kNoSite) number = number_of(site_of(block.cell));
      of_.push_back(number);
    }
  }

  uint32_t Of(uint32_t block) const { return of_[block]; }
  bool IsKnown(uint32_t block) const { return sites_[of_[block]] != kNoSite; }
  const std::vector<uint32_t>& sites() const { return sites_; }

 private:
  std::vector<uint32_t> of_;  // by block
  std::vector<uint32_t> sites_;
};

Count& FigureOf(HeldFigures& figures, Reach reach) {
  switch (reach) {
    case Reach::kReachable:
      return figures.reachable;
    case Reach::kLostDirectly:
      return figures.lost_directly;
    case Reach::kLostIndirectly:
      return figures.lost_indirectly;
    case Reach::kDoubtful:
      break;
  }
  return figures.unknown;
}

// The node for `frame` under `above`; where paths are at their longest, `above` itself.
template <typename Node>
uint32_t Deeper(InternedTree<Node>& tree, uint32_t above, uint32_t frame) {
  const uint32_t depth = tree[above].depth + 1;
  if (depth > kLongestPath) return above;
  const uint32_t child = tree.Child(above, frame);
  tree[child].depth = depth;
  return child;
}

// The entry for a block of a site under its dominator's.
uint32_t EntryFor(InternedTree<RetainedNode>& tree, uint32_t above, uint32_t site) {
  for (uint32_t at = above; at != 0; at = tree[at].parent) {
    if (tree[at].frame == site) return above;
  }
  return Deeper(tree, above, site);
}

// `rank`: the index in Inspection::sites of each number.
std::vector<RetainedEntry> FindRetained(const HeapGraph& graph,
                                        const std::vector<LiveBlock>& blocks,
                                        const SiteNumbers& numbers,
                                        const std::vector<uint32_t>& rank,
                                        const std::vector<uint32_t>& doubtful) {
  const Dominators dominators = FindDominators(graph, doubtful);
  InternedTree<RetainedNode> tree;
  std::vector<uint32_t> entry_of(dominators.nodes.size(), 0);
  for (size_t i = 1; i < entry_of.size(); ++i) {
    const uint32_t node = dominators.nodes[i];
    entry_of[i] = entry_of[dominators.of[i]];
    if (node >= graph.blocks) continue;
    entry_of[i] = EntryFor(tree, entry_of[i], rank[numbers.Of(node)]);
    tree[entry_of[i]].own_bytes += blocks[node].size;
  }
  std::vector<RetainedEntry> retained;
  for (const RetainedNode& node : tree.nodes()) {
    retained.push_back({node.parent, retained.empty() ? kNoRow : node.frame, node.own_bytes});
  }
  return retained;
}

// The place on a path where a block of a site goes: its own node, unless the site was there shortly
// before.
uint32_t PathFor(InternedTree<PathNode>& tree, uint32_t holder, uint32_t frame) {
  uint32_t at = holder;
  for (int up = 0; up < kFoldedWithin && at != 0; ++up, at = tree[at].parent) {
    if (tree[at].frame == frame) return at;
  }
  return Deeper(tree, holder, frame);
}

std::vector<HoldingPath> FindPaths(const HeapGraph& graph, const Reachability& reach,
                                   const std::vector<LiveBlock>& blocks, const SiteNumbers& numbers,
                                   const std::vector<uint32_t>& rank) {
  InternedTree<PathNode> tree;
  std::vector<uint32_t> path_of(graph.blocks, 0);
  for (const uint32_t block : reach.order) {
    const uint32_t holder = reach.holder[block];
    if (reach.of[block] != Reach::kReachable || holder == kNoNode) continue;
    const uint32_t above =
        holder < graph.blocks ? path_of[holder] : PathFor(tree, 0, 2 * (holder - graph.blocks) + 1);
    path_of[block] = PathFor(tree, above, 2 * numbers.Of(block));
    if (numbers.IsKnown(block)) tree[path_of[block]].own += Count{blocks[block].size, 1};
  }
  std::vector<HoldingPath> paths(tree.size());
  for (uint32_t i = 0; i < paths.size(); ++i) {
    const bool is_root = tree[i].frame % 2 != 0;
    const uint32_t number = tree[i].frame / 2;
    paths[i] = {tree[i].parent, is_root, is_root || i == 0 ? number : rank[number], tree[i].own};
  }
  return paths;
}

}  // namespace

Inspection Inspect(const MemorySource& memory, const std::vector<LiveBlock>& blocks,
                   const std::vector<Root>& roots,
                   const std::function<uint32_t(uint32_t cell)>& site_of,
                   const InspectOptions& options) {
  const HeapGraph graph = BuildGraph(memory, blocks, roots, options.threads);
  const SiteNumbers numbers(blocks, site_of);
  std::function<bool(uint32_t)> was_lost;
  if (options.lost_before != nullptr) {
    was_lost = [&](uint32_t block) {
      const LostBlock wanted = {blocks[block].address, blocks[block].size,
                                numbers.sites()[numbers.Of(block)]};
      return std::binary_search(options.lost_before->begin(), options.lost_before->end(), wanted);
    };
  }
  const Reachability reach = FindReachable(graph, was_lost);

  Inspection result;
  result.words = graph.words;
  result.pointers = graph.targets.size();
  std::vector<InspectedSite> sites(numbers.sites().size());
  for (size_t i = 0; i < sites.size(); ++i) sites[i].site = numbers.sites()[i];
  std::vector<uint32_t> doubtful;
  for (uint32_t block = 0; block < graph.blocks; ++block) {
    const uint32_t number = numbers.Of(block);
    const Count count = {blocks[block].size, 1};
    HeldFigures& figures = sites[number].figures;
    const Reach how = reach.of[block];
    const bool is_lost = how == Reach::kLostDirectly || how == Reach::kLostIndirectly;
    if (how == Reach::kDoubtful && reach.holder[block] == kNoNode) doubtful.push_back(block);
    if (is_lost) {
      result.lost.push_back({blocks[block].address, blocks[block].size, sites[number].site});
    }
    if (blocks[block].inherited) {
      figures.inherited += count;
      continue;
    }
    (numbers.IsKnown(block) ? FigureOf(figures, how) : figures.unknown) += count;
    if (numbers.IsKnown(block) && is_lost && reach.in_cycle[block]) figures.in_cycles += count;
  }
  std::vector<uint32_t> order(sites.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return sites[a].site < sites[b].site; });
  std::vector<uint32_t> rank(sites.size());
  for (const uint32_t number : order) {
    rank[number] = static_cast<uint32_t>(result.sites.size());
    result.total += sites[number].figures;
    result.sites.push_back(sites[number]);
  }
  if (!options.holders) return result;
  const auto find_paths = [&] { return FindPaths(graph, reach, blocks, numbers, rank); };
  auto paths =
      std::async(options.threads > 1 ? std::launch::async : std::launch::deferred, find_paths);
  result.retained = FindRetained(graph, blocks, numbers, rank, doubtful);
  result.paths = paths.get();
  return result;
}

}  // namespace memprof
