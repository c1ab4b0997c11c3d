#include "core/profile/profile.h"

#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/figure.h"
#include "core/profile/runtime_leaks.h"

namespace memprof {
namespace {

// Source frames, each once.
class FrameTable {
 public:
  explicit FrameTable(std::vector<ProfileFrame>& frames) : frames_(frames) {}

  uint32_t Add(const ProfileFrame& frame) {
    const auto key = std::make_tuple(frame.function, frame.file, frame.line, frame.module,
                                     frame.offset, frame.inlined);
    const auto [at, fresh] = ids_.emplace(key, static_cast<uint32_t>(frames_.size()));
    if (fresh) frames_.push_back(frame);
    return at->second;
  }

 private:
  std::vector<ProfileFrame>& frames_;
  std::map<std::tuple<std::string, std::string, uint32_t, uint32_t, uint64_t, bool>, uint32_t> ids_;
};

}  // namespace

Profile MakeProfile(Snapshot snapshot, Symbolizer& symbolizer) {
  Profile profile;
  profile.program = std::move(snapshot.program);
  profile.tracker = snapshot.tracker;
  profile.thread_names = std::move(snapshot.thread_names);
  profile.timeline = std::move(snapshot.timeline);
  profile.moments = std::move(snapshot.moments);
  profile.named = std::move(snapshot.named);
  profile.mappings = std::move(snapshot.mappings);
  profile.memory = std::move(snapshot.memory);
  profile.unseen = std::move(snapshot.unseen);
  profile.sources = std::move(snapshot.sources);
  profile.sizes = SumSizes(snapshot);
  for (SnapshotProcess& process : snapshot.processes) {
    profile.processes.push_back({{}, process.kind, std::move(process.rows)});
    ProfileProcess& sum = profile.processes.back();
    for (const ProcessRow& row : sum.rows) AddFigures(sum, row);
  }
  profile.nodes.push_back({});

  const std::vector<SourceChain> chains = symbolizer.Resolve(snapshot.modules, snapshot.frames);
  FrameTable table(profile.frames);
  // A node with inlined functions becomes one node for each; the function that has the frame is
  // outermost.
  std::vector<uint32_t> leaf(snapshot.nodes.size(), 0);
  for (size_t i = 1; i < snapshot.nodes.size(); ++i) {
    const SnapshotFrame& frame = snapshot.frames[snapshot.nodes[i].frame];
    const SourceChain& chain = chains[snapshot.nodes[i].frame];
    uint32_t parent = leaf[snapshot.nodes[i].parent];
    for (size_t k = chain.size(); k-- > 0;) {
      const uint32_t id = table.Add({chain[k].function, chain[k].file, chain[k].line, frame.module,
                                     frame.offset, chain[k].inlined});
      profile.nodes.push_back({parent, id});
      parent = static_cast<uint32_t>(profile.nodes.size() - 1);
    }
    leaf[i] = parent;
  }

  std::vector<std::string_view> functions;
  functions.reserve(chains.size());
  for (const SourceChain& chain : chains) functions.push_back(chain.back().function);
  profile.sites.reserve(snapshot.sites.size());
  for (SnapshotSite& site : snapshot.sites) {
    AddFigures(profile, site);
    const char* runtime_reason = WhyKept(snapshot, functions, site);
    profile.sites.push_back({leaf[site.node], site.thread_name, site.peak, site.leaked, site.total,
                             runtime_reason, VariancesOf(site, snapshot.tracker.sample_bytes),
                             site.size_class, site.kind, site.temporary, std::move(site.sizes),
                             std::move(site.history),
                             site.of_running_threads && runtime_reason == nullptr});
    profile.variances += profile.sites.back().variances;
  }
  for (SnapshotMapping& row : profile.mappings.rows) row.node = leaf[row.node];
  profile.modules = std::move(snapshot.modules);
  profile.notes = symbolizer.notes();
  return profile;
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
