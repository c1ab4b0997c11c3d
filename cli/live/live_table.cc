#include "cli/live/live_table.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <utility>

#include "cli/reports/rows.h"
#include "core/base_name.h"
#include "core/frame_kind.h"
#include "core/profile/location.h"
#include "core/tree/path_to_root.h"

namespace memprof {
namespace {

constexpr std::chrono::seconds kMinute{60};

uint64_t Less(uint64_t from, uint64_t what) { return from > what ? from - what : 0; }

int64_t Difference(uint64_t now, uint64_t before) { return static_cast<int64_t>(now - before); }

Count Since(const Count& now, const Count& before) {
  return {Less(now.bytes, before.bytes), Less(now.allocations, before.allocations)};
}

LiveFigures Since(const LiveFigures& now, const LiveFigures& before) {
  return {Since(now.live, before.live), {}, Since(now.total, before.total)};
}

// The keys of a process's sites.
class Keys {
 public:
  Keys(const LiveProfile& process, LiveBy by)
      : profile_(process.profile), stacks_(process.stacks), by_(by) {}

  LiveKey Of(uint32_t index) const {
    const ProfileSite& site = profile_.sites[index];
    if (by_ == LiveBy::kThread) return {profile_.thread_names[site.thread_name], "", ""};
    if (by_ == LiveBy::kProcess) {
      return {profile_.program.program + " " + std::to_string(profile_.program.pid), "", ""};
    }
    if (site.runtime_reason != nullptr) return {kRuntimeRow, "", ""};
    const uint32_t node = LocationOf(profile_, site);
    LiveKey key = KeyOfNode(profile_, node, by_);
    if (by_ == LiveBy::kModule) return ModuleOf(key);
    if (by_ == LiveBy::kSite) {
      key.callers = CallersOf(node);
      if (profile_.thread_names.size() > 1) {
        key.callers += (key.callers.empty() ? "thread " : ", thread ") +
                       profile_.thread_names[site.thread_name];
      }
      key.stack = stacks_[index];
    }
    return key;
  }

  // The site's own key, and those of its callers.
  std::set<LiveKey> AllOf(uint32_t index) const {
    std::set<LiveKey> keys = {Of(index)};
    const ProfileSite& site = profile_.sites[index];
    if (by_ == LiveBy::kThread || by_ == LiveBy::kProcess || by_ == LiveBy::kSite ||
        site.runtime_reason != nullptr) {
      return keys;
    }
    for (const uint32_t node : PathToRoot(profile_.nodes, site.node)) {
      if (!IsOfProgram(node)) continue;
      const LiveKey key = KeyOfNode(profile_, node, by_);
      keys.insert(by_ == LiveBy::kModule ? ModuleOf(key) : key);
    }
    return keys;
  }

 private:
  static LiveKey ModuleOf(const LiveKey& key) {
    return {key.module.empty() ? key.name : key.module, "", ""};
  }

  bool IsOfProgram(uint32_t node) const {
    const ProfileFrame& frame = profile_.frames[profile_.nodes[node].frame];
    const std::string_view module = frame.module < profile_.modules.size()
                                        ? std::string_view(profile_.modules[frame.module].path)
                                        : std::string_view();
    return ClassifyFrame(frame.function, module) == FrameKind::kProgram;
  }

  std::string CallersOf(uint32_t location) const {
    std::string callers;
    if (location == 0) return callers;
    for (const uint32_t node : PathToRoot(profile_.nodes, profile_.nodes[location].parent)) {
      if (!IsOfProgram(node)) continue;
      if (!callers.empty()) callers += ' ';
      callers += "← " + profile_.frames[profile_.nodes[node].frame].function;
    }
    return callers;
  }

  const Profile& profile_;
  const std::vector<uint64_t>& stacks_;
  const LiveBy by_;
};

}  // namespace

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

bool Contains(const LiveKey& key, const std::string& lower) {
  for (const std::string* text : {&key.name, &key.place, &key.module, &key.callers}) {
    if (LowerCase(*text).find(lower) != std::string::npos) return true;
  }
  return false;
}

bool IsEmpty(const LiveRow& row) {
  return row.now.live == Count() && row.now.total == Count() && row.change == 0;
}

bool IsBefore(const LiveRow& a, const LiveRow& b, LiveSort sort) {
  switch (sort) {
    case LiveSort::kLive:
      return a.now.live.bytes > b.now.live.bytes;
    case LiveSort::kChange:
      return a.change > b.change;
    case LiveSort::kMinute:
      return a.minute > b.minute;
    case LiveSort::kPeak:
      return a.now.peak.bytes > b.now.peak.bytes;
    case LiveSort::kRate:
      return a.allocations_a_second > b.allocations_a_second;
    case LiveSort::kBlocks:
      return a.now.live.allocations > b.now.live.allocations;
    case LiveSort::kName:
      break;
  }
  return a.name < b.name;
}

LiveKey KeyOfNode(const Profile& profile, uint32_t node, LiveBy by) {
  const PlaceKey key = PlaceKeyOf(profile, node);
  const uint32_t line = by == LiveBy::kFunction ? 0 : key.line;
  return {key.function, PlaceOf(key.function, key.file, line, key.module),
          std::string(BaseName(key.module))};
}

const char* NameOf(LiveBy by) {
  switch (by) {
    case LiveBy::kPlace:
      return "place";
    case LiveBy::kFunction:
      return "function";
    case LiveBy::kSite:
      return "site";
    case LiveBy::kModule:
      return "module";
    case LiveBy::kThread:
      return "thread";
    case LiveBy::kProcess:
      break;
  }
  return "process";
}

const char* NameOf(LiveSort sort) {
  switch (sort) {
    case LiveSort::kLive:
      return "live";
    case LiveSort::kChange:
      return "change";
    case LiveSort::kMinute:
      return "minute";
    case LiveSort::kPeak:
      return "peak";
    case LiveSort::kRate:
      return "rate";
    case LiveSort::kBlocks:
      return "blocks";
    case LiveSort::kName:
      break;
  }
  return "name";
}

std::vector<uint64_t> NumberStacks(const Snapshot& snapshot) {
  std::vector<uint64_t> modules, frames, nodes;
  for (const SnapshotModule& module : snapshot.modules) {
    modules.push_back(XXH3_64bits(module.path.data(), module.path.size()));
  }
  const auto mixed = [](uint64_t a, uint64_t b) {
    const uint64_t words[] = {a, b};
    return XXH3_64bits(words, sizeof words);
  };
  for (const SnapshotFrame& frame : snapshot.frames) {
    frames.push_back(
        mixed(frame.module < modules.size() ? modules[frame.module] : 0, frame.offset));
  }
  for (size_t i = 0; i < snapshot.nodes.size(); ++i) {
    const SnapshotNode& node = snapshot.nodes[i];
    nodes.push_back(i == 0 ? snapshot.program.pid : mixed(nodes[node.parent], frames[node.frame]));
  }
  std::vector<uint64_t> stacks;
  for (const SnapshotSite& site : snapshot.sites) {
    const std::string& thread = snapshot.thread_names[site.thread_name];
    const uint64_t label = mixed(XXH3_64bits(thread.data(), thread.size()),
                                 uint64_t{site.size_class} << 8 | static_cast<uint64_t>(site.kind));
    stacks.push_back(mixed(nodes[site.node], label));
  }
  return stacks;
}

void LiveTable::Add(Time time, std::vector<LiveProfile> processes) {
  std::fill(now_.begin(), now_.end(), LiveFigures());
  site_ids_.clear();
  LiveFigures totals;
  for (const LiveProfile& process : processes) {
    std::vector<uint32_t>& ids = site_ids_.emplace_back();
    for (size_t i = 0; i < process.profile.sites.size(); ++i) {
      const ProfileSite& site = process.profile.sites[i];
      const uint32_t id =
          ids_.try_emplace(process.stacks[i], static_cast<uint32_t>(ids_.size())).first->second;
      if (id >= now_.size()) now_.resize(id + 1);
      const LiveFigures figures = {site.leaked, site.peak, site.total};
      now_[id] += figures;
      totals += figures;
      ids.push_back(id);
    }
  }
  if (!looks_.empty()) {
    const std::chrono::duration<double> passed = time - looks_.back().time;
    const auto made =
        static_cast<double>(Less(totals.total.allocations, totals_.total.allocations));
    rate_ = passed.count() > 0 ? made / passed.count() : 0;
  }
  totals_ = totals;
  processes_ = std::move(processes);
  Look look = {time, {}};
  for (const LiveFigures& stack : now_) {
    look.stacks.push_back({stack.live.bytes, stack.total.allocations});
  }
  looks_.push_back(std::move(look));
  // One that is a minute old stays.
  while (looks_.size() > 2 && time - looks_[1].time >= kMinute) looks_.pop_front();
}

std::vector<LiveRow> LiveTable::Rows(const LiveView& view) const {
  std::vector<LiveRow> rows;
  if (looks_.empty()) return rows;
  std::map<LiveKey, std::vector<LiveSite>> groups;
  for (uint32_t i = 0; i < processes_.size(); ++i) {
    const Keys keys(processes_[i], view.by);
    for (uint32_t k = 0; k < processes_[i].profile.sites.size(); ++k) {
      if (view.inclusive) {
        for (const LiveKey& key : keys.AllOf(k)) groups[key].push_back({i, k});
      } else {
        groups[keys.Of(k)].push_back({i, k});
      }
    }
  }
  const std::string lower = LowerCase(view.filter);
  for (const auto& [key, sites] : groups) {
    if (!lower.empty() && !Contains(key, lower)) continue;
    LiveRow row = Sum(key, sites);
    if (!IsEmpty(row)) rows.push_back(std::move(row));
  }
  SortRows(rows, view.sort);
  return rows;
}

bool LiveTable::IsIn(const LiveKey& key, const LiveSite& site, const LiveView& view) const {
  const Keys keys(processes_[site.process], view.by);
  if (view.inclusive) return keys.AllOf(site.site).count(key) != 0;
  return keys.Of(site.site) == key;
}

LiveRow LiveTable::Sum(LiveKey key, const std::vector<LiveSite>& sites) const {
  LiveRow row;
  static_cast<LiveKey&>(row) = std::move(key);
  Past past, minute;
  uint64_t live_bytes = 0, allocations = 0;
  const auto add = [](Past& sum, const Look& look, uint32_t id) {
    if (id >= look.stacks.size()) return;
    sum.live_bytes += look.stacks[id].live_bytes;
    sum.allocations += look.stacks[id].allocations;
  };
  for (const LiveSite& at : sites) {
    const ProfileSite& site = processes_[at.process].profile.sites[at.site];
    const uint32_t id = site_ids_[at.process][at.site];
    const LiveFigures figures = {site.leaked, site.peak, site.total};
    live_bytes += figures.live.bytes;
    allocations += figures.total.allocations;
    row.now += Shown(figures, id);
    add(past, before(), id);
    add(minute, looks_.front(), id);
  }
  row.change = Difference(live_bytes, past.live_bytes);
  row.minute = Difference(live_bytes, minute.live_bytes);
  const std::chrono::duration<double> passed = looks_.back().time - before().time;
  if (passed.count() > 0) {
    row.allocations_a_second =
        static_cast<double>(Less(allocations, past.allocations)) / passed.count();
  }
  return row;
}

// With a baseline each stack has what is more since: one that shrank hides none of another's growth, and
// rows of any kind have the same sum.
LiveFigures LiveTable::Shown(const LiveFigures& now, uint32_t id) const {
  if (!has_baseline_) return now;
  return Since(now, id < baseline_.size() ? baseline_[id] : LiveFigures());
}

LiveFigures LiveTable::totals() const {
  if (!has_baseline_) return totals_;
  LiveFigures totals;
  for (uint32_t id = 0; id < now_.size(); ++id) totals += Shown(now_[id], id);
  return totals;
}

void LiveTable::SetBaseline() {
  has_baseline_ = true;
  baseline_ = now_;
}

}  // namespace memprof
