#include "core/profile/profile.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/figure.h"
#include "core/frame_kind.h"
#include "core/profile/runtime_leaks.h"
#include "core/tree/path_to_root.h"

namespace memprof {
namespace {

// Source frames, each once.
class FrameTable {
 public:
  explicit FrameTable(std::vector<ProfileFrame>& frames) : frames_(frames) {}

  uint32_t Add(const ProfileFrame& frame) {
    const auto key = std::make_tuple(frame.function, frame.file, frame.line, frame.module,
                                     frame.offset, frame.inlined, frame.stands_behind);
    const auto [at, fresh] = ids_.emplace(key, static_cast<uint32_t>(frames_.size()));
    if (fresh) frames_.push_back(frame);
    return at->second;
  }

 private:
  std::vector<ProfileFrame>& frames_;
  std::map<std::tuple<std::string, std::string, uint32_t, uint32_t, uint64_t, bool, bool>, uint32_t>
      ids_;
};

// Which of the snapshot's frames a profile shows.
class ShownFrames {
 public:
  // `profile` has the snapshot's mappings and inspection already.
  ShownFrames(const Snapshot& snapshot, const Profile& profile, const ProfileOptions& options)
      : native_frames_(options.native_frames),
        interpreter_(snapshot.frames.size()),
        in_python_(snapshot.nodes.size()),
        used_(snapshot.frames.size(), snapshot.python.empty()) {
    if (snapshot.python.empty()) return;
    for (size_t i = 0; i < snapshot.frames.size(); ++i) {
      const uint32_t module = snapshot.frames[i].module;
      interpreter_[i] =
          module < snapshot.modules.size() && IsInterpreterModule(snapshot.modules[module].path);
    }
    for (size_t i = 1; i < snapshot.nodes.size(); ++i) {
      const SnapshotNode& node = snapshot.nodes[i];
      in_python_[i] = in_python_[node.parent] || IsPython(snapshot.frames[node.frame]);
    }
    for (const SnapshotSite& site : snapshot.sites) Use(snapshot, site.node);
    for (const SnapshotMapping& row : profile.mappings.rows) Use(snapshot, row.node);
    for (const InspectedRow& row : profile.inspection.rows) Use(snapshot, row.node);
  }

  // The stack that ends with this node has a Python frame.
  bool InPython(uint32_t node) const { return in_python_[node]; }
  // Python frames stand for this frame in such a stack.
  bool StandsBehind(uint32_t frame) const { return interpreter_[frame]; }
  bool IsLeftOut(uint32_t frame) const { return interpreter_[frame] && !native_frames_; }

  // The chains of all frames. Those that are shown nowhere aren't looked for.
  std::vector<SourceChain> Resolve(const Snapshot& snapshot, Symbolizer& symbolizer) const {
    if (std::find(used_.begin(), used_.end(), false) == used_.end()) {
      return symbolizer.Resolve(snapshot.modules, snapshot.frames);
    }
    std::vector<SnapshotFrame> frames;
    std::vector<size_t> at;
    for (size_t i = 0; i < used_.size(); ++i) {
      if (!used_[i]) continue;
      frames.push_back(snapshot.frames[i]);
      at.push_back(i);
    }
    std::vector<SourceChain> some = symbolizer.Resolve(snapshot.modules, frames);
    std::vector<SourceChain> chains(used_.size(), {{"?", "", 0, false}});
    for (size_t i = 0; i < at.size(); ++i) chains[at[i]] = std::move(some[i]);
    return chains;
  }

 private:
  void Use(const Snapshot& snapshot, uint32_t leaf) {
    const bool python = in_python_[leaf];
    for (const uint32_t node : PathToRoot(snapshot.nodes, leaf)) {
      const uint32_t frame = snapshot.nodes[node].frame;
      if (!python || !IsLeftOut(frame)) used_[frame] = true;
    }
  }

  const bool native_frames_;
  std::vector<bool> interpreter_;  // by frame
  std::vector<bool> in_python_;    // by node
  std::vector<bool> used_;         // by frame
};

// Makes the profile's nodes: those of stacks with Python frames, and those of other stacks. A node
// that both have is made for each, since it may be left out of one of them.
class ProfileNodes {
 public:
  ProfileNodes(const Snapshot& snapshot, const std::vector<SourceChain>& chains,
               const ShownFrames& shown, const Symbolizer& symbolizer, Profile& profile)
      : snapshot_(snapshot),
        chains_(chains),
        shown_(shown),
        symbolizer_(symbolizer),
        profile_(profile),
        table_(profile.frames) {
    profile_.nodes.push_back({});
    for (auto& made : made_) {
      made.resize(snapshot.nodes.size(), kNone);
      made[0] = 0;
    }
    // Without Python frames the nodes keep their order.
    for (uint32_t i = 1; snapshot.python.empty() && i < snapshot.nodes.size(); ++i) LeafOf(i);
  }

  // The profile's node of the snapshot's.
  uint32_t LeafOf(uint32_t leaf) {
    std::vector<uint32_t>& made = made_[shown_.InPython(leaf) ? 1 : 0];
    path_.clear();
    uint32_t node = leaf;
    for (; made[node] == kNone; node = snapshot_.nodes[node].parent) path_.push_back(node);
    uint32_t parent = made[node];
    for (size_t i = path_.size(); i-- > 0;) {
      const uint32_t frame = snapshot_.nodes[path_[i]].frame;
      const bool python = shown_.InPython(leaf);
      if (!python || !shown_.IsLeftOut(frame)) {
        parent = Add(frame, parent, python && shown_.StandsBehind(frame));
      }
      made[path_[i]] = parent;
    }
    return parent;
  }

 private:
  static constexpr uint32_t kNone = 0xffffffffu;

  // A frame with inlined functions becomes one node for each; the function that has the frame is
  // outermost.
  uint32_t Add(uint32_t index, uint32_t parent, bool stands_behind) {
    const SnapshotFrame& frame = snapshot_.frames[index];
    if (IsPython(frame)) return Node(PythonFrame(frame), parent);
    const SourceChain& chain = chains_[index];
    for (size_t k = chain.size(); k-- > 0;) {
      parent = Node({chain[k].function, chain[k].file, chain[k].line, frame.module, frame.offset,
                     chain[k].inlined, false, stands_behind},
                    parent);
    }
    return parent;
  }

  uint32_t Node(const ProfileFrame& frame, uint32_t parent) {
    profile_.nodes.push_back({parent, table_.Add(frame)});
    return static_cast<uint32_t>(profile_.nodes.size() - 1);
  }

  ProfileFrame PythonFrame(const SnapshotFrame& frame) {
    const SnapshotPythonFunction& function = snapshot_.python[PythonFunctionOf(frame.offset)];
    ProfileFrame shown;
    shown.function = function.function;
    shown.file = symbolizer_.ShownPath(function.file);
    shown.line = PythonLineOf(frame.offset);
    shown.python = true;
    const std::string path = shown.file.empty() ? "<unknown>" : shown.file;
    const auto [at, fresh] = sources_.try_emplace(
        path, static_cast<uint32_t>(snapshot_.modules.size() + profile_.modules.size()));
    if (fresh) profile_.modules.push_back({path, ""});
    shown.module = at->second;
    return shown;
  }

  const Snapshot& snapshot_;
  const std::vector<SourceChain>& chains_;
  const ShownFrames& shown_;
  const Symbolizer& symbolizer_;
  Profile& profile_;
  FrameTable table_;
  std::vector<uint32_t> made_[2];  // by node: of stacks without, and with Python frames
  std::vector<uint32_t> path_;
  std::map<std::string, uint32_t> sources_;  // the modules of Python frames
};

// CPython maps arenas of 256 KiB, from 3.10 on of 1 MiB, and hardly anything else.
PythonArenas ArenasOf(const Snapshot& snapshot, const SnapshotMappings& mappings) {
  constexpr uint64_t kSmallest = 256 << 10, kLargest = 1 << 20;
  PythonArenas arenas;
  for (const SnapshotMapping& row : mappings.rows) {
    if (row.kind != MappingKind::kAnonymous || row.reserved || row.node == 0) continue;
    const uint32_t module = snapshot.frames[snapshot.nodes[row.node].frame].module;
    const uint64_t each = row.total.allocations == 0 ? 0 : row.total.bytes / row.total.allocations;
    if (module >= snapshot.modules.size() || !IsInterpreterModule(snapshot.modules[module].path) ||
        (each != kSmallest && each != kLargest)) {
      continue;
    }
    arenas.peak += row.peak;
    arenas.leaked += row.leaked;
  }
  return arenas;
}

}  // namespace

Profile MakeProfile(Snapshot snapshot, Symbolizer& symbolizer, const ProfileOptions& options) {
  Profile profile;
  profile.program = std::move(snapshot.program);
  profile.tracker = snapshot.tracker;
  profile.thread_names = std::move(snapshot.thread_names);
  profile.timeline = std::move(snapshot.timeline);
  profile.moments = std::move(snapshot.moments);
  profile.named = std::move(snapshot.named);
  profile.mappings = std::move(snapshot.mappings);
  profile.memory = std::move(snapshot.memory);
  profile.inspection = std::move(snapshot.inspection);
  profile.unseen = std::move(snapshot.unseen);
  profile.sources = std::move(snapshot.sources);
  profile.sizes = SumSizes(snapshot);
  for (SnapshotProcess& process : snapshot.processes) {
    profile.processes.push_back({{}, process.kind, std::move(process.rows)});
    ProfileProcess& sum = profile.processes.back();
    for (const ProcessRow& row : sum.rows) AddFigures(sum, row);
  }

  profile.python_arenas = ArenasOf(snapshot, profile.mappings);

  const ShownFrames shown(snapshot, profile, options);
  std::vector<SourceChain> chains = shown.Resolve(snapshot, symbolizer);
  ProfileNodes nodes(snapshot, chains, shown, symbolizer, profile);

  std::vector<std::string_view> functions;
  functions.reserve(chains.size());
  for (const SourceChain& chain : chains) functions.push_back(chain.back().function);
  profile.sites.reserve(snapshot.sites.size());
  for (SnapshotSite& site : snapshot.sites) {
    AddFigures(profile, site);
    const char* runtime_reason = WhyKept(snapshot, functions, site);
    profile.sites.push_back(
        {nodes.LeafOf(site.node), site.thread_name, site.peak, site.leaked, site.total,
         runtime_reason, VariancesOf(site, snapshot.tracker.sample_bytes), site.size_class,
         site.kind, site.temporary, std::move(site.sizes), std::move(site.history),
         site.of_running_threads && runtime_reason == nullptr});
    profile.variances += profile.sites.back().variances;
  }
  for (SnapshotMapping& row : profile.mappings.rows) row.node = nodes.LeafOf(row.node);
  for (InspectedRow& row : profile.inspection.rows) {
    if (row.node != 0) row.node = nodes.LeafOf(row.node);
  }
  profile.modules.insert(profile.modules.begin(), std::make_move_iterator(snapshot.modules.begin()),
                         std::make_move_iterator(snapshot.modules.end()));
  profile.notes = symbolizer.notes();
  return profile;
}

const char* KindName(const Profile& profile, const ProfileFrame& frame) {
  if (frame.python) return "python";
  const std::string_view module = frame.module < profile.modules.size()
                                      ? std::string_view(profile.modules[frame.module].path)
                                      : std::string_view();
  if (IsInterpreterModule(module)) return "interpreter";
  switch (ClassifyFrame(frame.function, module)) {
    case FrameKind::kSystem:
      return "system";
    case FrameKind::kRow:
      return "row";
    case FrameKind::kProgram:
    case FrameKind::kInterpreter:  // said above
      break;
  }
  return "program";
}

Count SumKeptByRuntime(const Profile& profile) {
  Count kept;
  for (const ProfileSite& site : profile.sites) {
    if (site.runtime_reason != nullptr) kept += site.leaked;
  }
  return kept;
}

Count SumOfRunningThreads(const Profile& profile) {
  Count sum;
  for (const ProfileSite& site : profile.sites) {
    if (site.of_running_threads) sum += site.leaked;
  }
  return sum;
}

}  // namespace memprof
