#include "core/profile/runtime_leaks.h"

#include <fmt/format.h>

#include <vector>

#include "core/profile/runtime_kept.h"
#include "core/tree/path_to_root.h"
#include "core/units.h"

namespace memprof {
namespace {

// The innermost frames of a stack, as many as the rules look at.
class InnermostFrames {
 public:
  InnermostFrames(const Snapshot& snapshot, std::span<const std::string_view> functions,
                  const SnapshotSite& site)
      : site_(site), sample_bytes_(snapshot.tracker.sample_bytes) {
    for (const uint32_t node : PathToRoot(snapshot.nodes, site.node)) {
      if (count_ == kRuntimeFrames) break;
      const uint32_t frame = snapshot.nodes[node].frame;
      const uint32_t module = snapshot.frames[frame].module;
      ids_[count_] = frame;
      frames_[count_++] = {functions.empty() ? std::string_view() : functions[frame],
                           module != kNoModule ? std::string_view(snapshot.modules[module].path)
                                               : std::string_view()};
    }
  }

  std::span<const RuntimeFrame> get() const { return {frames_, count_}; }
  // Indices into the snapshot's frames.
  std::span<const uint32_t> named() const {
    return {ids_, CountNamedFrames(get(), site_, sample_bytes_)};
  }

 private:
  const SnapshotSite& site_;
  const uint64_t sample_bytes_;
  RuntimeFrame frames_[kRuntimeFrames];
  uint32_t ids_[kRuntimeFrames];
  size_t count_ = 0;
};

}  // namespace

const char* WhyKept(const Snapshot& snapshot, std::span<const std::string_view> functions,
                    const SnapshotSite& site) {
  return WhyKeptByRuntime(InnermostFrames(snapshot, functions, site).get(), site,
                          snapshot.tracker.sample_bytes);
}

LeakClasses ClassifyLeaks(const Snapshot& snapshot, Symbolizer& symbolizer) {
  std::vector<bool> asked(snapshot.frames.size());
  std::vector<uint32_t> ids;
  std::vector<SnapshotFrame> frames;
  for (const SnapshotSite& site : snapshot.sites) {
    if (site.leaked == Count{}) continue;
    const InnermostFrames innermost(snapshot, {}, site);
    for (const uint32_t id : innermost.named()) {
      if (asked[id]) continue;
      asked[id] = true;
      ids.push_back(id);
      frames.push_back(snapshot.frames[id]);
    }
  }
  const std::vector<SourceChain> chains = symbolizer.Resolve(snapshot.modules, frames);
  std::vector<std::string_view> functions(snapshot.frames.size());
  for (size_t i = 0; i < ids.size(); ++i) functions[ids[i]] = chains[i].back().function;
  LeakClasses classes;
  for (const SnapshotSite& site : snapshot.sites) {
    if (site.leaked == Count{}) continue;
    if (WhyKept(snapshot, functions, site) != nullptr) {
      classes.kept_by_runtime += site.leaked;
    } else if (site.of_running_threads) {
      classes.of_running_threads += site.leaked;
    }
  }
  return classes;
}

std::string KeptByRuntimeText(const Count& leaked, const Count& kept, bool estimated) {
  if (kept.allocations == 0) return {};
  if (kept == leaked) return ", all of it kept by design by the runtime";
  return fmt::format(", {}{} of it kept by design by the runtime", estimated ? "≈ " : "",
                     FormatBytes(kept.bytes));
}

std::string RunningThreadsText(const Count& leaked, const Count& of_running_threads) {
  constexpr char kThreads[] = "of threads that still ran at the end";
  if (of_running_threads == Count{}) return {};
  if (of_running_threads == leaked) return fmt::format("all of it {}", kThreads);
  return fmt::format("{} of it in {} {}", FormatBytes(of_running_threads.bytes),
                     FormatCountOf(of_running_threads.allocations, "block"), kThreads);
}

std::string LeakClassesText(const Count& leaked, const LeakClasses& classes, bool estimated) {
  const std::string running = RunningThreadsText(leaked, classes.of_running_threads);
  return KeptByRuntimeText(leaked, classes.kept_by_runtime, estimated) +
         (running.empty() ? "" : ", " + running);
}

}  // namespace memprof
