#include "cli/web/page_history.h"

#include <utility>
#include <vector>

namespace memprof {
namespace {

using Json = nlohmann::ordered_json;

// The average length of a change as text: moment, bytes, blocks and their commas.
constexpr size_t kChangeBytes = 20;

Json TimelineJson(const Timeline& timeline) {
  Json time = Json::array(), heap = Json::array(), rss = Json::array();
  for (const TimelinePoint& point : timeline.points) {
    time.push_back(point.time_ms);
    heap.push_back(point.heap_bytes);
    rss.push_back(point.rss_bytes ? Json(*point.rss_bytes) : Json());
  }
  return {{"interval_ms", timeline.interval_ms},
          {"time_ms", std::move(time)},
          {"heap_bytes", std::move(heap)},
          {"rss_bytes", std::move(rss)}};
}

struct NodeHistory {
  uint32_t node = 0;
  LiveHistory history;
};

// Drops every second moment until the rest fits.
void Thin(Moments& moments, std::vector<NodeHistory>& histories, size_t max_bytes) {
  auto bytes = [&] {
    size_t changes = 0;
    for (const NodeHistory& entry : histories) changes += entry.history.size();
    return changes * kChangeBytes;
  };
  while (moments.at.size() > 1 && bytes() > max_bytes) {
    for (NodeHistory& entry : histories) {
      entry.history = EverySecond(entry.history, moments.at.size());
    }
    moments.interval_ms *= 2;
    for (size_t i = 1; 2 * i < moments.at.size(); ++i) moments.at[i] = moments.at[2 * i];
    moments.at.resize((moments.at.size() + 1) / 2);
  }
  std::erase_if(histories, [](const NodeHistory& entry) { return entry.history.empty(); });
}

Json MomentsJson(const Moments& moments, const std::vector<NodeHistory>& histories) {
  Json time = Json::array(), inexact = Json::array(), bytes = Json::array(),
       allocations = Json::array();
  LiveHistory all;
  for (const NodeHistory& entry : histories) all = SumOf(all, entry.history);
  for (uint32_t i = 0; i < moments.at.size(); ++i) {
    const Count live = LiveAt(all, i);
    time.push_back(moments.at[i].time_ms);
    inexact.push_back(moments.at[i].inexact ? 1 : 0);
    bytes.push_back(live.bytes);
    allocations.push_back(live.allocations);
  }
  return {{"interval_ms", moments.interval_ms},
          {"time_ms", std::move(time)},
          {"inexact", std::move(inexact)},
          {"heap_bytes", std::move(bytes)},
          {"allocations", std::move(allocations)}};
}

Json HistoryJson(const std::vector<NodeHistory>& histories) {
  Json node = Json::array(), changes = Json::array(), moment = Json::array(), bytes = Json::array(),
       allocations = Json::array();
  for (const NodeHistory& entry : histories) {
    node.push_back(entry.node);
    changes.push_back(entry.history.size());
    Count before;
    for (const LiveChange& change : entry.history) {
      moment.push_back(change.moment);
      bytes.push_back(static_cast<int64_t>(change.live.bytes - before.bytes));
      allocations.push_back(static_cast<int64_t>(change.live.allocations - before.allocations));
      before = change.live;
    }
  }
  return {{"node", std::move(node)},
          {"changes", std::move(changes)},
          {"moment", std::move(moment)},
          {"bytes", std::move(bytes)},
          {"allocations", std::move(allocations)}};
}

}  // namespace

void AddHistory(const Profile& profile, const PageTree& tree, size_t max_bytes, Json& data) {
  if (!profile.timeline.points.empty()) data["timeline"] = TimelineJson(profile.timeline);
  if (!profile.moments.at.empty()) {
    Moments moments = profile.moments;
    std::vector<NodeHistory> histories;
    for (uint32_t i = 0; i < tree.nodes.size(); ++i) {
      if (!tree.nodes[i].history.empty()) histories.push_back({i, tree.nodes[i].history});
    }
    Thin(moments, histories, max_bytes);
    data["moments"] = MomentsJson(moments, histories);
    data["history"] = HistoryJson(histories);
  }
  if (profile.chosen && profile.chosen->kind != MomentSelector::Kind::kPeak) {
    data["selected"] = {{"time_ms", profile.chosen->time_ms},
                        {"text", "live at " + profile.chosen->name}};
  }
}

}  // namespace memprof
