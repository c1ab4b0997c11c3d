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

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

uint64_t Less(uint64_t from, uint64_t what) { return from > what ? from - what : 0; }

int64_t Difference(uint64_t now, uint64_t before) { return static_cast<int64_t>(now - before); }

Count Since(const Count& now, const Count& before) {
  return {Less(now.bytes, before.bytes), Less(now.allocations, before.allocations)};
}

LiveFigures Since(const LiveFigures& now, const LiveFigures& before) {
  return {Since(now.live, before.live), {}, Since(now.total, before.total)};
}

// The keys of a profile's sites.
class Keys {
 public:
  Keys(const Profile& profile, LiveBy by) : profile_(profile), by_(by) {}

  LiveKey Of(const ProfileSite& site) const {
    switch (by_) {
      case LiveBy::kThread:
        return {profile_.thread_names[site.thread_name], "", ""};
      case LiveBy::kProcess:
        return {profile_.program.program + " " + std::to_string(profile_.program.pid), "", ""};
      default:
        break;
    }
    if (site.runtime_reason != nullptr) return {kRuntimeRow, "", ""};
    return OfNode(LocationOf(profile_, site));
  }

  LiveKey OfNode(uint32_t node) const {
    const PlaceKey key = PlaceKeyOf(profile_, node);
    const std::string module(BaseName(key.module));
    if (by_ == LiveBy::kModule) return {module.empty() ? key.function : module, "", ""};
    const bool places = by_ == LiveBy::kPlace;
    return {key.function, PlaceOf(key.function, key.file, places ? key.line : 0, key.module),
            module};
  }

  // The site's own key, and those of its callers.
  std::set<LiveKey> AllOf(const ProfileSite& site) const {
    std::set<LiveKey> keys = {Of(site)};
    if (by_ == LiveBy::kThread || by_ == LiveBy::kProcess || site.runtime_reason != nullptr) {
      return keys;
    }
    for (const uint32_t node : PathToRoot(profile_.nodes, site.node)) {
      const ProfileFrame& frame = profile_.frames[profile_.nodes[node].frame];
      const std::string_view module = frame.module < profile_.modules.size()
                                          ? std::string_view(profile_.modules[frame.module].path)
                                          : std::string_view();
      if (ClassifyFrame(frame.function, module) == FrameKind::kProgram) keys.insert(OfNode(node));
    }
    return keys;
  }

 private:
  const Profile& profile_;
  const LiveBy by_;
};

bool Contains(const LiveKey& key, const std::string& lower) {
  for (const std::string* text : {&key.name, &key.place, &key.module}) {
    if (LowerCase(*text).find(lower) != std::string::npos) return true;
  }
  return false;
}

bool Before(const LiveRow& a, const LiveRow& b, LiveSort sort) {
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

}  // namespace

const char* NameOf(LiveBy by) {
  switch (by) {
    case LiveBy::kPlace:
      return "place";
    case LiveBy::kFunction:
      return "function";
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

struct LiveTable::Sum {
  LiveFigures now, base;
  Past before, minute;
};

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
  const Look& before = looks_[looks_.size() < 2 ? 0 : looks_.size() - 2];
  const Look& minute = looks_.front();
  const auto add = [](Past& sum, const Look& look, uint32_t id) {
    if (id >= look.stacks.size()) return;
    sum.live_bytes += look.stacks[id].live_bytes;
    sum.allocations += look.stacks[id].allocations;
  };
  std::map<LiveKey, Sum> sums;
  for (size_t i = 0; i < processes_.size(); ++i) {
    const Keys keys(processes_[i].profile, view.by);
    const auto& sites = processes_[i].profile.sites;
    for (size_t k = 0; k < sites.size(); ++k) {
      const uint32_t id = site_ids_[i][k];
      const LiveFigures figures = {sites[k].leaked, sites[k].peak, sites[k].total};
      const auto add_to = [&](const LiveKey& key) {
        Sum& sum = sums[key];
        sum.now += figures;
        if (has_baseline_ && id < baseline_.size()) sum.base += baseline_[id];
        add(sum.before, before, id);
        add(sum.minute, minute, id);
      };
      if (view.inclusive) {
        for (const LiveKey& key : keys.AllOf(sites[k])) add_to(key);
      } else {
        add_to(keys.Of(sites[k]));
      }
    }
  }
  const std::chrono::duration<double> passed = looks_.back().time - before.time;
  const std::string lower = LowerCase(view.filter);
  for (const auto& [key, sum] : sums) {
    if (!lower.empty() && !Contains(key, lower)) continue;
    LiveRow row;
    static_cast<LiveKey&>(row) = key;
    row.now = has_baseline_ ? Since(sum.now, sum.base) : sum.now;
    row.change = Difference(sum.now.live.bytes, sum.before.live_bytes);
    row.minute = Difference(sum.now.live.bytes, sum.minute.live_bytes);
    if (passed.count() > 0) {
      row.allocations_a_second =
          static_cast<double>(Less(sum.now.total.allocations, sum.before.allocations)) /
          passed.count();
    }
    const bool nothing = row.now.live == Count() && row.now.total == Count() && row.change == 0;
    if (!nothing) rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [&view](const LiveRow& a, const LiveRow& b) { return Before(a, b, view.sort); });
  return rows;
}

LiveFigures LiveTable::totals() const {
  return has_baseline_ ? Since(totals_, baseline_totals_) : totals_;
}

void LiveTable::SetBaseline() {
  has_baseline_ = true;
  baseline_ = now_;
  baseline_totals_ = totals_;
}

}  // namespace memprof
