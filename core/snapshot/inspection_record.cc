#include "core/snapshot/inspection_record.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "core/tree/interned_tree.h"

namespace memprof {
namespace {

// Sorts the values and merges equal keys by `add`; returns each old one's new index.
template <typename Value, typename Key, typename Add>
std::vector<uint32_t> SortAndMerge(std::vector<Value>& values, Key key, Add add) {
  std::vector<uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return key(values[a]) < key(values[b]); });
  std::vector<Value> sorted;
  std::vector<uint32_t> moved(values.size());
  for (const uint32_t i : order) {
    if (sorted.empty() || key(sorted.back()) != key(values[i])) {
      sorted.push_back(values[i]);
    } else {
      add(sorted.back(), values[i]);
    }
    moved[i] = static_cast<uint32_t>(sorted.size() - 1);
  }
  values = std::move(sorted);
  return moved;
}

template <typename Value>
struct KeyedNode {
  uint32_t parent = 0;
  uint32_t frame = 0;
  Value value = {};
};

// The children of each entry, in lists: those of i begin at first[i] and go on by next[].
struct ChildLists {
  template <typename Entry>
  explicit ChildLists(const std::vector<Entry>& entries)
      : first(entries.size(), kNoRow), next(entries.size(), kNoRow) {
    for (uint32_t i = static_cast<uint32_t>(entries.size()); i-- > 1;) {
      next[i] = first[entries[i].parent];
      first[entries[i].parent] = i;
    }
  }
  std::vector<uint32_t> first, next;
};

// The tree with one child of each key under a parent, in preorder, children by their keys. `key` gives
// an entry's, `value` what is summed, `make` a new entry of them.
template <typename Entry, typename Key, typename Value, typename Make>
std::vector<Entry> InPreorder(const std::vector<Entry>& entries, Key key, Value value, Make make) {
  using Sum = decltype(value(Entry()));
  InternedTree<KeyedNode<Sum>> tree;
  std::vector<uint32_t> node_of(entries.size(), 0);
  for (size_t i = 1; i < entries.size(); ++i) {
    node_of[i] = tree.Child(node_of[entries[i].parent], key(entries[i]));
    tree[node_of[i]].value += value(entries[i]);
  }
  const ChildLists lists(tree.nodes());
  std::vector<Entry> ordered;
  std::vector<std::pair<uint32_t, uint32_t>> open = {{0, 0}};  // a node, its parent's new index
  while (!open.empty()) {
    const auto [node, parent] = open.back();
    open.pop_back();
    const auto index = static_cast<uint32_t>(ordered.size());
    ordered.push_back(make(parent, node == 0, tree[node].frame, tree[node].value));
    const size_t begin = open.size();
    for (uint32_t c = lists.first[node]; c != kNoRow; c = lists.next[c]) open.push_back({c, index});
    std::sort(
        open.begin() + static_cast<std::ptrdiff_t>(begin), open.end(),
        [&](const auto& a, const auto& b) { return tree[a.first].frame > tree[b.first].frame; });
  }
  return ordered;
}

// Each once, in order, and only those of rows.
void KeepUsedTypes(SnapshotInspection& inspection) {
  std::map<std::string, uint32_t> numbers;
  for (const InspectedRow& row : inspection.rows) {
    if (row.type != 0) numbers.emplace(inspection.types[row.type - 1], 0);
  }
  std::vector<std::string> types;
  for (auto& [name, number] : numbers) {
    types.push_back(name);
    number = static_cast<uint32_t>(types.size());
  }
  for (InspectedRow& row : inspection.rows) {
    if (row.type != 0) row.type = numbers.at(inspection.types[row.type - 1]);
  }
  inspection.types = std::move(types);
}

}  // namespace

Count HeldFigures::live() const {
  Count sum = lost();
  for (const Count& part : {reachable, inherited, unknown}) sum += part;
  return sum;
}

Count HeldFigures::lost() const {
  Count sum = lost_directly;
  return sum += lost_indirectly;
}

HeldFigures& HeldFigures::operator+=(const HeldFigures& other) {
  lost_directly += other.lost_directly;
  lost_indirectly += other.lost_indirectly;
  reachable += other.reachable;
  inherited += other.inherited;
  unknown += other.unknown;
  in_cycles += other.in_cycles;
  return *this;
}

HeldFigures SumOf(const SnapshotInspection& inspection) {
  HeldFigures sum;
  for (const InspectedRow& row : inspection.rows) sum += row.figures;
  return sum;
}

SnapshotInspection CanonicalInspection(SnapshotInspection inspection,
                                       const std::vector<uint32_t>& moved) {
  for (InspectedRow& row : inspection.rows) row.node = moved[row.node];
  const std::vector<uint32_t> rows = SortAndMerge(
      inspection.rows, [](const InspectedRow& row) { return row.node; },
      [](InspectedRow& sum, const InspectedRow& row) {
        if (sum.figures == HeldFigures()) {
          sum.type = row.type;
        } else if (row.figures != HeldFigures() && row.type != sum.type) {
          sum.type = 0;
        }
        sum.figures += row.figures;
        sum.alone_bytes += row.alone_bytes;
        sum.free_bytes += row.free_bytes;
      });
  KeepUsedTypes(inspection);
  // Only the roots that hold something.
  std::vector<bool> used(inspection.roots.size(), false);
  for (const HoldingPath& path : inspection.paths) {
    if (path.is_root) used[path.what] = true;
  }
  std::vector<std::string> names;
  std::vector<uint32_t> name_of(inspection.roots.size(), 0);
  for (size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) continue;
    name_of[i] = static_cast<uint32_t>(names.size());
    names.push_back(std::move(inspection.roots[i]));
  }
  const std::vector<uint32_t> roots = SortAndMerge(
      names, [](const std::string& name) { return name; }, [](std::string&, const std::string&) {});
  inspection.roots = std::move(names);
  inspection.paths = InPreorder(
      inspection.paths,
      [&](const HoldingPath& path) {
        return path.is_root ? 2 * roots[name_of[path.what]] : 2 * rows[path.what] + 1;
      },
      [](const HoldingPath& path) { return path.own; },
      [](uint32_t parent, bool top, uint32_t key, const Count& own) {
        return HoldingPath{parent, !top && key % 2 == 0, top ? 0 : key / 2, own};
      });
  inspection.retained = InPreorder(
      inspection.retained, [&](const RetainedEntry& entry) { return rows[entry.row]; },
      [](const RetainedEntry& entry) { return entry.own_bytes; },
      [](uint32_t parent, bool top, uint32_t row, uint64_t bytes) {
        return RetainedEntry{parent, top ? kNoRow : row, bytes};
      });
  return inspection;
}

std::vector<uint64_t> RetainedBytes(const std::vector<RetainedEntry>& retained,
                                    const std::vector<uint32_t>& groups) {
  const auto count = static_cast<uint32_t>(retained.size());
  const uint32_t all = groups.empty() ? 0 : *std::max_element(groups.begin(), groups.end()) + 1;
  std::vector<uint64_t> result(all, 0);
  if (count == 0) return result;
  std::vector<uint64_t> bytes(count);
  for (uint32_t i = count; i-- > 0;) {
    bytes[i] += retained[i].own_bytes;
    if (i != 0) bytes[retained[i].parent] += bytes[i];
  }
  const ChildLists children(retained);
  // On the way down the tree a group counts at its topmost entry only.
  std::vector<uint32_t> open(all, 0);
  const auto group_of = [&](uint32_t i) {
    return retained[i].row < groups.size() ? groups[retained[i].row] : kNoRow;
  };
  for (uint32_t at = 0;;) {
    if (const uint32_t group = group_of(at); group != kNoRow && open[group]++ == 0) {
      result[group] += bytes[at];
    }
    if (children.first[at] != kNoRow) {
      at = children.first[at];
      continue;
    }
    for (;; at = retained[at].parent) {
      if (const uint32_t group = group_of(at); group != kNoRow) --open[group];
      if (at == 0 || children.next[at] != kNoRow) break;
    }
    if (at == 0) return result;
    at = children.next[at];
  }
}

}  // namespace memprof
