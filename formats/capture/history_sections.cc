#include "formats/capture/history_sections.h"

#include <algorithm>
#include <set>
#include <vector>

#include "formats/capture/byte_reader.h"
#include "formats/capture/byte_writer.h"

namespace memprof {
namespace {

// Later times could overflow when they are added to.
constexpr uint64_t kLatestMs = INT64_MAX;

// Of a SnapshotSite or a SnapshotMapping.
template <typename Row>
using HistoryMember = LiveHistory Row::*;

// Ascending times, written as differences.
template <typename Samples>
void WriteTimes(const Samples& samples, ByteWriter& out) {
  uint64_t before = 0;
  for (const auto& sample : samples) {
    out.Varint(sample.time_ms - before);
    before = sample.time_ms;
  }
}

template <typename Samples>
bool ReadTimes(Samples& samples, ByteReader& in) {
  uint64_t time = 0;
  for (auto& sample : samples) {
    const uint64_t step = in.Varint();
    if (step > kLatestMs - time) return false;
    sample.time_ms = time += step;
  }
  return true;
}

// A column over the changes of all sites with a history, in order. `value` gets a change and the
// one before it at the same site; the first change gets an empty one.
template <typename Row, typename Value>
void WriteChanges(const std::vector<Row>& sites, HistoryMember<Row> history, Value value) {
  for (const Row& site : sites) {
    LiveChange before;
    for (const LiveChange& change : site.*history) {
      value(change, before);
      before = change;
    }
  }
}

template <typename Row>
void WriteHistories(const std::vector<Row>& sites, HistoryMember<Row> history, ByteWriter& out) {
  uint64_t with_history = 0;
  for (const Row& site : sites) with_history += (site.*history).empty() ? 0u : 1u;
  out.Varint(with_history);
  uint64_t previous = 0;
  for (size_t i = 0; i < sites.size(); ++i) {
    if (!(sites[i].*history).empty()) out.Delta(i, previous);
  }
  for (const Row& site : sites) {
    if (!(site.*history).empty()) out.Varint((site.*history).size());
  }
  WriteChanges(sites, history, [&](const LiveChange& change, const LiveChange& before) {
    out.Varint(change.moment - before.moment);
  });
  WriteChanges(sites, history, [&](const LiveChange& change, const LiveChange& before) {
    out.Signed(static_cast<int64_t>(change.live.bytes - before.live.bytes));
  });
  WriteChanges(sites, history, [&](const LiveChange& change, const LiveChange& before) {
    out.Signed(static_cast<int64_t>(change.live.allocations - before.live.allocations));
  });
}

// Pre: `moments` is not 0 if there is a history.
template <typename Row>
bool ReadHistories(ByteReader& in, HistoryMember<Row> member, uint64_t moments,
                   std::vector<Row>& sites) {
  std::vector<LiveHistory*> histories(in.CountOfItems(5));
  uint64_t site = 0;
  for (LiveHistory*& history : histories) {
    const uint64_t previous = site;
    if (in.Delta(site) >= sites.size()) return false;
    if (&history != histories.data() && site <= previous) return false;
    history = &(sites[site].*member);
  }
  uint64_t changes = 0;
  for (LiveHistory* history : histories) {
    const uint64_t count = in.CountOfItems(3);
    changes += count;
    if (count == 0 || count > moments || changes > kMaxLiveChanges) return false;
    history->resize(count);
  }
  for (LiveHistory* history : histories) {
    uint64_t moment = 0;
    for (LiveChange& change : *history) {
      const uint64_t step = in.Varint();
      if (step >= moments - moment || (step == 0 && &change != history->data())) return false;
      change.moment = static_cast<uint32_t>(moment += step);
    }
  }
  for (LiveHistory* history : histories) {
    uint64_t bytes = 0;
    for (LiveChange& change : *history) change.live.bytes = in.Delta(bytes);
  }
  for (LiveHistory* history : histories) {
    uint64_t allocations = 0;
    Count before;
    for (LiveChange& change : *history) {
      change.live.allocations = in.Delta(allocations);
      if (change.live == before) return false;  // it changes nothing
      before = change.live;
    }
  }
  return !in.failed();
}

}  // namespace

std::string EncodeTimeline(const Timeline& timeline) {
  if (timeline.points.empty()) return {};
  ByteWriter out;
  out.Varint(timeline.interval_ms);
  out.Varint(timeline.points.size());
  WriteTimes(timeline.points, out);
  uint64_t heap = 0;
  uint64_t rss = 0;
  for (const TimelinePoint& point : timeline.points) out.Delta(point.heap_bytes, heap);
  for (const TimelinePoint& point : timeline.points) {
    out.Delta(point.rss_bytes ? *point.rss_bytes + 1 : 0, rss);
  }
  return out.bytes();
}

bool DecodeTimeline(std::string_view raw, Timeline& timeline) {
  ByteReader in(raw);
  timeline.interval_ms = in.Varint();
  const uint64_t count = in.CountOfItems(3);
  if (count == 0 || count > kMaxTimelinePoints) return false;
  timeline.points.resize(count);
  if (!ReadTimes(timeline.points, in)) return false;
  uint64_t heap = 0;
  uint64_t rss = 0;
  for (TimelinePoint& point : timeline.points) point.heap_bytes = in.Delta(heap);
  for (TimelinePoint& point : timeline.points) {
    if (in.Delta(rss) != 0) point.rss_bytes = rss - 1;
  }
  return !in.failed();
}

std::string EncodeMoments(const Snapshot& snapshot) {
  if (snapshot.moments.at.empty()) return {};
  ByteWriter out;
  out.Varint(snapshot.moments.interval_ms);
  out.Varint(snapshot.moments.at.size());
  WriteTimes(snapshot.moments.at, out);
  for (const Moment& moment : snapshot.moments.at) out.Varint(moment.inexact ? 1 : 0);

  WriteHistories(snapshot.sites, &SnapshotSite::history, out);
  return out.bytes();
}

bool DecodeMoments(std::string_view raw, Snapshot& snapshot) {
  ByteReader in(raw);
  snapshot.moments.interval_ms = in.Varint();
  const uint64_t moments = in.CountOfItems(2);
  if (moments == 0 || moments > kMaxMoments) return false;
  snapshot.moments.at.resize(moments);
  if (!ReadTimes(snapshot.moments.at, in)) return false;
  for (Moment& moment : snapshot.moments.at) moment.inexact = in.Varint() != 0;

  return ReadHistories(in, &SnapshotSite::history, moments, snapshot.sites);
}

std::string EncodeMappingMoments(const SnapshotMappings& mappings) {
  const bool any = std::any_of(mappings.rows.begin(), mappings.rows.end(),
                               [](const SnapshotMapping& row) { return !row.history.empty(); });
  if (!any) return {};
  ByteWriter out;
  WriteHistories(mappings.rows, &SnapshotMapping::history, out);
  return out.bytes();
}

bool DecodeMappingMoments(std::string_view raw, Snapshot& snapshot) {
  ByteReader in(raw);
  return ReadHistories(in, &SnapshotMapping::history, snapshot.moments.at.size(),
                       snapshot.mappings.rows);
}

void DropMappingMoments(SnapshotMappings& mappings) {
  for (SnapshotMapping& row : mappings.rows) row.history = {};
}

std::string EncodeNamed(const Snapshot& snapshot) {
  if (snapshot.named.empty()) return {};
  const std::vector<NamedMoment>& taken = snapshot.named.taken;
  ByteWriter out;
  out.Varint(snapshot.named.left_out);
  out.Varint(taken.size());
  for (const NamedMoment& named : taken) out.String(named.name);
  WriteTimes(taken, out);
  for (const NamedMoment& named : taken) out.Varint(named.inexact ? 1 : 0);
  WriteHistories(snapshot.sites, &SnapshotSite::named, out);
  return out.bytes();
}

bool DecodeNamed(std::string_view raw, Snapshot& snapshot) {
  ByteReader in(raw);
  std::vector<NamedMoment>& taken = snapshot.named.taken;
  snapshot.named.left_out = in.Varint();
  const uint64_t count = in.CountOfItems(4);
  if (count > kMaxNamedMoments) return false;
  std::set<std::string_view> names;
  for (uint64_t i = 0; i < count; ++i) {
    const std::string_view name = in.String();
    if (!IsMomentName(name) || !names.insert(name).second) return false;
    taken.push_back({std::string(name), 0, false});
  }
  if (!ReadTimes(taken, in)) return false;
  for (NamedMoment& named : taken) named.inexact = in.Varint() != 0;
  return ReadHistories(in, &SnapshotSite::named, count, snapshot.sites);
}

void DropNamed(Snapshot& snapshot) {
  snapshot.named = {};
  for (SnapshotSite& site : snapshot.sites) site.named = {};
}

void DropMoments(Snapshot& snapshot) {
  snapshot.moments = {};
  for (SnapshotSite& site : snapshot.sites) site.history = {};
  DropMappingMoments(snapshot.mappings);
}

}  // namespace memprof
