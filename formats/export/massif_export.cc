// massif's text, for ms_print and massif-visualizer. It has snapshots at the start (the heap is
// empty), at the peak and at the end, the latter two with stacks, innermost frame on top. The
// capture's moments follow as snapshots, every tenth with its stacks.
//
// Source: ms_print of valgrind 3.19, which ends a line at '#' and counts a node's children.

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base_name.h"
#include "core/printable.h"
#include "core/tree/interned_tree.h"
#include "core/tree/path_to_root.h"
#include "formats/export/exporters.h"

namespace memprof {
namespace {

// Makes one line, without the '#' that ms_print takes for a comment ("{lambda()#1}").
std::string OneLine(std::string text) {
  std::replace(text.begin(), text.end(), '#', '\'');
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return Printable(text);
}

std::string MassifFrame(const Profile& profile, const ProfileFrame& frame) {
  std::string where;
  if (!frame.file.empty()) {
    const std::string_view name = BaseName(frame.file);
    where =
        frame.line != 0 ? fmt::format(" ({}:{})", name, frame.line) : fmt::format(" ({})", name);
  } else if (frame.module < profile.modules.size()) {
    where = fmt::format(" (in {})", profile.modules[frame.module].path);
  } else {
    return OneLine(frame.function);
  }
  return OneLine(fmt::format("0x{:X}: {}{}", frame.offset, frame.function, where));
}

// The stacks of a moment's live bytes as a tree, callees above callers.
class CallerTree {
 public:
  // `bytes_of` returns the bytes of a site.
  template <typename BytesOf>
  CallerTree(const Profile& profile, BytesOf bytes_of) : profile_(profile) {
    for (const ProfileSite& site : profile.sites) {
      if (const uint64_t bytes = bytes_of(site); bytes != 0) Add(site, bytes);
    }
    children_.resize(tree_.size());
    for (uint32_t i = 1; i < tree_.size(); ++i) children_[tree_[i].parent].push_back(i);
    for (std::vector<uint32_t>& children : children_) {
      std::sort(children.begin(), children.end(), [&](uint32_t a, uint32_t b) {
        return tree_[a].bytes != tree_[b].bytes ? tree_[a].bytes > tree_[b].bytes : a < b;
      });
    }
  }

  uint64_t bytes() const { return tree_[0].bytes; }

  std::string Text() const {
    std::string text;
    std::vector<std::pair<uint32_t, size_t>> open = {{0, 0}};  // node, depth
    while (!open.empty()) {
      const auto [id, depth] = open.back();
      open.pop_back();
      const Node& node = tree_[id];
      const std::vector<uint32_t>& children = children_[id];
      // A stack that ends where another goes on gets a line of its own, so that lines sum up.
      const bool ends = node.own != 0 && !children.empty();
      const size_t lines = children.size() + (ends ? 1 : 0);
      text += fmt::format("{}n{}: {} {}\n", std::string(depth, ' '), lines, node.bytes,
                          id == 0 ? kRoot : MassifFrame(profile_, profile_.frames[node.frame]));
      if (ends) {
        text += fmt::format("{}n0: {} {}\n", std::string(depth + 1, ' '), node.own,
                            id == 0 ? "[no stack]" : "[no caller]");
      }
      for (size_t i = children.size(); i-- > 0;) open.push_back({children[i], depth + 1});
    }
    return text;
  }

 private:
  static constexpr char kRoot[] = "(heap allocation functions) malloc/new/new[], --alloc-fns, etc.";
  struct Node {
    uint32_t parent = 0;
    uint32_t frame = 0;
    uint64_t bytes = 0;
    uint64_t own = 0;  // bytes of the stacks that end here
  };

  void Add(const ProfileSite& site, uint64_t bytes) {
    uint32_t at = 0;
    tree_[0].bytes += bytes;
    for (const uint32_t node : PathToRoot(profile_.nodes, site.node)) {
      at = tree_.Child(at, profile_.nodes[node].frame);
      tree_[at].bytes += bytes;
    }
    tree_[at].own += bytes;
  }

  const Profile& profile_;
  InternedTree<Node> tree_;
  std::vector<std::vector<uint32_t>> children_;  // of each node
};

constexpr size_t kDetailedEvery = 10;  // massif's own --detailed-freq

struct MassifSnapshot {
  uint64_t time_ms = 0;
  uint64_t bytes = 0;
  const char* kind = "empty";  // in ms_print's heap_tree
  std::string tree = {};       // for the other kinds
};

MassifSnapshot Detailed(uint64_t time_ms, const char* kind, const CallerTree& tree) {
  return {time_ms, tree.bytes(), kind, tree.Text()};
}

std::string Text(const MassifSnapshot& snapshot, size_t number) {
  return fmt::format(
      "#-----------\nsnapshot={}\n#-----------\ntime={}\nmem_heap_B={}\nmem_heap_extra_B=0\n"
      "mem_stacks_B=0\nheap_tree={}\n{}",
      number, snapshot.time_ms, snapshot.bytes, snapshot.kind, snapshot.tree);
}

std::vector<MassifSnapshot> AtMoments(const Profile& profile) {
  std::vector<MassifSnapshot> snapshots;
  for (size_t i = 0; i < profile.moments.at.size(); ++i) {
    const CallerTree tree(profile, [&](const ProfileSite& site) {
      return LiveAt(site.history, static_cast<uint32_t>(i)).bytes;
    });
    const uint64_t time_ms = profile.moments.at[i].time_ms;
    snapshots.push_back(i % kDetailedEvery == kDetailedEvery - 1
                            ? Detailed(time_ms, "detailed", tree)
                            : MassifSnapshot{time_ms, tree.bytes()});
  }
  return snapshots;
}

}  // namespace

std::string ExportMassif(const Profile& profile, const ExportOptions&) {
  const SnapshotProgram& program = profile.program;
  const bool timed = program.peak_time_resolution_ms != 0;
  std::vector<MassifSnapshot> snapshots = AtMoments(profile);
  std::string desc = "made by memprof: the start, the peak and the end";
  if (!snapshots.empty()) desc += fmt::format(", and {} moments", snapshots.size());
  if (!timed) desc += "; when the peak was is not known, and it is shown at the end";
  if (profile.tracker.sample_bytes != 0) {
    desc += "; sampled, " + SamplingText(profile.tracker.sample_bytes);
  }
  const uint64_t peak_ms =
      timed ? std::min(program.peak_time_ms, program.duration_ms) : program.duration_ms;
  const auto live_at_peak = [](const ProfileSite& site) { return site.peak.bytes; };
  const auto live_at_end = [](const ProfileSite& site) { return site.leaked.bytes; };
  // At the same time, the peak comes after the moments that led to it.
  const auto after = std::upper_bound(
      snapshots.begin(), snapshots.end(), peak_ms,
      [](uint64_t time_ms, const MassifSnapshot& snapshot) { return time_ms < snapshot.time_ms; });
  snapshots.insert(after, Detailed(peak_ms, "peak", CallerTree(profile, live_at_peak)));
  snapshots.push_back(Detailed(std::max(program.duration_ms, snapshots.back().time_ms), "detailed",
                               CallerTree(profile, live_at_end)));
  snapshots.insert(snapshots.begin(), MassifSnapshot{});

  std::string text = fmt::format("desc: {}\ncmd: {}\ntime_unit: ms\n", OneLine(desc),
                                 OneLine(fmt::format("{}", fmt::join(program.command, " "))));
  for (size_t i = 0; i < snapshots.size(); ++i) text += Text(snapshots[i], i);
  return text;
}

}  // namespace memprof
