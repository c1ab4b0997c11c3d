#include "formats/export/json_export.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "core/printable.h"
#include "core/protocol/sample_weight.h"
#include "core/tree/path_to_root.h"
#include "core/units.h"
#include "formats/export/exporters.h"
#include "formats/export/mappings_json.h"

namespace memprof {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;

Json ToJson(const Count& count) {
  return {{"bytes", count.bytes}, {"allocations", count.allocations}};
}

// An estimate has a "standard_error"; an exact figure has none.
Json ToJson(const Count& count, const Variance& variance, const Profile& profile) {
  return FigureObject(count, variance, profile.tracker.sample_bytes != 0);
}

// The temporary figures; null if the capture doesn't know them.
Json TemporaryJson(const Profile& profile) {
  if (profile.tracker.temporary_threshold == 0) return nullptr;
  Json json = ToJson(profile.temporary, profile.variances.temporary, profile);
  json["threshold"] = profile.tracker.temporary_threshold;
  return json;
}

Json SizeRow(Json min_bytes, Json max_bytes, const Count& count) {
  return {{"min_bytes", std::move(min_bytes)},
          {"max_bytes", std::move(max_bytes)},
          {"allocations", count.allocations},
          {"bytes", count.bytes}};
}

Json SizeRows(const SizeHistogram& sizes) {
  Json rows = Json::array();
  for (const SizeShare& share : sizes) {
    const SizeRange range = RangeOfClass(share.size_class);
    rows.push_back(SizeRow(range.min_bytes, range.max_bytes, share.count));
  }
  return rows;
}

// All allocations by size; those of unknown size have a row without sizes.
Json HistogramJson(const Profile& profile) {
  Json rows = SizeRows(profile.sizes);
  const Count untold = Untold(profile.sizes, profile.total);
  if (untold != Count()) rows.push_back(SizeRow(nullptr, nullptr, untold));
  return rows;
}

// All allocations by the function that was called.
Json KindsJson(const Profile& profile) {
  Count counts[kAllocatorKinds];
  for (const ProfileSite& site : profile.sites) {
    counts[static_cast<size_t>(site.kind)] += site.total;
  }
  Json rows = Json::array();
  for (size_t i = 0; i < kAllocatorKinds; ++i) {
    if (counts[i] == Count()) continue;
    Json row = {{"kind", NameOf(static_cast<AllocatorKind>(i))}};
    row.update(ToJson(counts[i]));
    rows.push_back(std::move(row));
  }
  return rows;
}

// The sizes of a sampled site's blocks.
Json SizesJson(uint32_t size_class) {
  const uint64_t from = SmallestOfClass(size_class);
  return {{"from", from}, {"to", from == 0 ? 0 : 2 * from - 1}};
}

Json TrackerJson(const SnapshotTracker& tracker, size_t sites) {
  return {{"bytes", tracker.bytes},
          {"sites", sites},
          {"dropped_events", tracker.dropped_events},
          {"truncated_stacks", tracker.truncated_stacks},
          {"incomplete_stacks", tracker.incomplete_stacks},
          {"tables_full_events", tracker.tables_full_events},
          {"unnamed_frames", tracker.unnamed_frames},
          {"unread_python", tracker.unread_python},
          {"unknown_frees", tracker.unknown_frees},
          {"attached", tracker.attached},
          {"before_attach_frees", tracker.before_attach_frees},
          {"before_attach_bytes", tracker.before_attach_bytes},
          {"counter_peak_bytes", tracker.counter_peak_bytes},
          {"peak_bound_bytes", tracker.peak_bound_bytes},
          {"unattributed_bytes", tracker.unattributed_bytes},
          {"untracked_children", tracker.fork_children},
          {"stop_reason", tracker.stop_reason},
          {"sample_bytes", tracker.sample_bytes},
          {"inexact_read", tracker.inexact_read}};
}

const char* Name(Unseen::Kind kind) {
  switch (kind) {
    case Unseen::Kind::kAllocator:
      return "allocator";
    case Unseen::Kind::kExecuted:
      return "executed";
    case Unseen::Kind::kProcesses:
      return "processes";
    case Unseen::Kind::kChildren:
      break;
  }
  return "children";
}

// Events that are known to be in no figure (core/snapshot/unseen.h); empty if there are none.
Json UnseenJson(const std::vector<Unseen>& unseen) {
  Json all = Json::array();
  for (const Unseen& one : unseen) {
    all.push_back({{"kind", Name(one.kind)},
                   {"name", one.name},
                   {"program", one.program},
                   {"count", one.count}});
  }
  return all;
}

// Null if no supervisor watched the run.
Json TimelineJson(const Timeline& timeline) {
  if (timeline.points.empty()) return nullptr;
  Json points = Json::array();
  for (const TimelinePoint& point : timeline.points) {
    points.push_back({{"time_ms", point.time_ms},
                      {"heap_bytes", point.heap_bytes},
                      {"rss_bytes", point.rss_bytes ? Json(*point.rss_bytes) : Json()}});
  }
  return {{"interval_ms", timeline.interval_ms}, {"points", std::move(points)}};
}

Json MomentsJson(const Profile& profile) {
  LiveHistory all;
  for (const ProfileSite& site : profile.sites) all = SumOf(all, site.history);
  Json moments = Json::array();
  for (uint32_t i = 0; i < profile.moments.at.size(); ++i) {
    const Moment& moment = profile.moments.at[i];
    moments.push_back({{"time_ms", moment.time_ms},
                       {"live", ToJson(LiveAt(all, i))},
                       {"inexact", moment.inexact}});
  }
  return moments;
}

Json HistoryJson(const LiveHistory& history, size_t moments) {
  Json bytes = Json::array(), allocations = Json::array();
  for (uint32_t i = 0; i < moments; ++i) {
    const Count live = LiveAt(history, i);
    bytes.push_back(live.bytes);
    allocations.push_back(live.allocations);
  }
  return {{"bytes", std::move(bytes)}, {"allocations", std::move(allocations)}};
}

Json Stats(const Profile& profile) {
  const SnapshotProgram& program = profile.program;
  Json peak = ToJson(profile.peak, profile.variances.peak, profile);
  peak["time_ms"] = program.peak_time_ms;
  peak["time_resolution_ms"] = program.peak_time_resolution_ms;
  Json json = {{"schema", kSchema},
               {"program", program.program},
               {"pid", program.pid},
               {"command", program.command},
               {"start", FormatUtcTime(program.start_unix_ms)},
               {"duration_ms", program.duration_ms},
               {"end", {{"kind", NameOf(program.end_kind)}, {"code", program.end_code}}},
               {"peak", peak},
               {"leaked", ToJson(profile.leaked, profile.variances.leaked, profile)},
               {"leaked_of_running_threads", ToJson(SumOfRunningThreads(profile))},
               {"total", ToJson(profile.total, profile.variances.total, profile)},
               {"temporary", TemporaryJson(profile)},
               {"histogram", HistogramJson(profile)},
               {"kinds", KindsJson(profile)},
               {"rss_peak_bytes", program.rss_peak_bytes},
               {"tracker", TrackerJson(profile.tracker, profile.sites.size())},
               {"unseen", UnseenJson(profile.unseen)},
               {"timeline", TimelineJson(profile.timeline)}};
  for (const NamedMoment& named : profile.named.taken) {
    json["snapshots"].push_back(
        {{"name", named.name}, {"time_ms", named.time_ms}, {"inexact", named.inexact}});
  }
  for (size_t i = 0; i < profile.sources.size(); ++i) {
    const SnapshotSource& source = profile.sources[i];
    const SnapshotProgram& of = source.program;
    Json one = {{"program", of.program},
                {"pid", of.pid},
                {"start", FormatUtcTime(of.start_unix_ms)},
                {"duration_ms", of.duration_ms},
                {"peak", ToJson(source.peak)}};
    if (!profile.processes.empty() && profile.processes[i].kind == SnapshotProcess::Kind::kApart) {
      one["leaked"] = ToJson(profile.processes[i].leaked);
      one["total"] = ToJson(profile.processes[i].total);
    }
    json["sources"].push_back(std::move(one));
  }
  json["mappings"] = MappingsJson(profile.mappings);
  json["memory"] = MemoryJson(profile.memory);
  if (profile.chosen) {
    json["selected"] = {{"moment", profile.chosen->name}, {"time_ms", profile.chosen->time_ms}};
  }
  if (const auto& chosen = profile.chosen_processes) {
    json["processes"] = {{"selected", chosen->patterns},
                         {"shown", chosen->shown},
                         {"all", chosen->all},
                         {"not_apart", chosen->without_rows},
                         {"figures_only", chosen->figures_only}};
    if (chosen->figures_only) {  // of all processes together
      json["tracker"] = {{"sites", profile.sites.size()},
                         {"sample_bytes", profile.tracker.sample_bytes}};
    }
  }
  return json;
}

Json FrameJson(const Profile& profile, const ProfileFrame& frame) {
  const bool has_module = frame.module < profile.modules.size();
  return {{"function", frame.function},
          {"file", frame.file},
          {"line", frame.line},
          {"module", has_module ? profile.modules[frame.module].path : ""},
          {"build_id", has_module ? profile.modules[frame.module].build_id : ""},
          {"offset", frame.offset},
          {"inlined", frame.inlined},
          {"kind", KindName(profile, frame)}};
}

// What dump takes as its indentation.
constexpr int kIndent = 1, kOneLine = -1;

std::string Dumped(const Json& json, int indent) {
  return WithEscapedControls(json.dump(indent, ' ', false, Json::error_handler_t::replace));
}

std::string Text(const Json& json) { return Dumped(json, kIndent) + "\n"; }

// The frames of a stack, the innermost first.
Json FramesJson(const Profile& profile, uint32_t leaf) {
  Json frames = Json::array();
  for (const uint32_t node : PathToRoot(profile.nodes, leaf)) {
    frames.push_back(FrameJson(profile, profile.frames[profile.nodes[node].frame]));
  }
  return frames;
}

// What a row says of its stack: the frames, or where they are in the table.
Json StackJson(const Profile& profile, uint32_t leaf, const ExportOptions& options) {
  if (options.stack_table) return {{"stack", leaf}};
  return {{"frames", FramesJson(profile, leaf)}};
}

Json SiteJson(const Profile& profile, const ProfileSite& site, const ExportOptions& options) {
  Json entry = StackJson(profile, site.node, options);
  entry.update({{"thread", profile.thread_names[site.thread_name]},
                {"peak", ToJson(site.peak, site.variances.peak, profile)},
                {"leaked", ToJson(site.leaked, site.variances.leaked, profile)},
                {"total", ToJson(site.total, site.variances.total, profile)},
                {"kind", NameOf(site.kind)}});
  if (profile.tracker.temporary_threshold != 0) {
    entry["temporary"] = ToJson(site.temporary, site.variances.temporary, profile);
  }
  if (!site.sizes.empty()) entry["histogram"] = SizeRows(site.sizes);
  if (profile.tracker.sample_bytes != 0) entry["sizes"] = SizesJson(site.size_class);
  if (options.history) entry["history"] = HistoryJson(site.history, profile.moments.at.size());
  if (site.runtime_reason != nullptr) entry["runtime"] = site.runtime_reason;
  if (site.of_running_threads) entry["of_running_threads"] = true;
  return entry;
}

// Adds to `text`, an object that is open, a list of `size` items; `item` makes each. They are written one
// at a time: the object of all would take ten times the text.
template <typename Item>
void AppendList(std::string& text, std::string_view name, size_t size, int indent, Item item) {
  text += fmt::format(",\n \"{}\": [", name);
  for (size_t i = 0; i < size; ++i) {
    text += i == 0 ? "\n  " : ",\n  ";
    for (const char c : Dumped(item(i), indent)) {
      text += c;
      if (c == '\n') text += "  ";
    }
  }
  text += size == 0 ? "]" : "\n ]";
}

// Every frame and every stack once. A stack is its innermost frame and the stack that called it; the
// first is the empty one.
void AppendStackTable(std::string& text, const Profile& profile) {
  AppendList(text, "frames", profile.frames.size(), kOneLine,
             [&](size_t i) { return FrameJson(profile, profile.frames[i]); });
  AppendList(text, "stacks", profile.nodes.size(), kOneLine, [&](size_t i) {
    const ProfileNode& node = profile.nodes[i];
    return i == 0 ? Json{{"caller", nullptr}, {"frame", nullptr}}
                  : Json{{"caller", node.parent}, {"frame", node.frame}};
  });
}

}  // namespace

nlohmann::ordered_json StatsObject(const Profile& profile) { return Stats(profile); }

nlohmann::ordered_json CountObject(const Count& count) { return ToJson(count); }

nlohmann::ordered_json FigureObject(const Count& count, const Variance& variance, bool estimates) {
  Json json = ToJson(count);
  if (estimates) json["standard_error"] = ToJson(StandardError(variance));
  return json;
}

std::string JsonText(const nlohmann::ordered_json& json) { return Text(json); }

std::string StatsJson(const Profile& profile) { return Text(Stats(profile)); }

std::string ExportJson(const Profile& profile, const ExportOptions& options) {
  Json json = Stats(profile);
  json["notes"] = profile.notes;
  json["moments"] = MomentsJson(profile);
  if (!json["mappings"].is_null()) json["mappings"]["rows"] = Json::array();
  for (const SnapshotMapping& row : profile.mappings.rows) {
    Json entry = StackJson(profile, row.node, options);
    entry["thread"] = profile.thread_names[row.thread_name];
    entry.update(MappingJson(row));
    json["mappings"]["rows"].push_back(std::move(entry));
  }
  std::string text = Dumped(json, kIndent);
  text.resize(text.size() - std::string_view("\n}").size());
  if (options.stack_table) AppendStackTable(text, profile);
  AppendList(text, "sites", profile.sites.size(), options.stack_table ? kOneLine : kIndent,
             [&](size_t i) { return SiteJson(profile, profile.sites[i], options); });
  return text + "\n}\n";
}

}  // namespace memprof
