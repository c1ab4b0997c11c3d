#include "cli/reports/growth/growth_data.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "core/profile/inspection_rows.h"
#include "core/profile/location.h"
#include "core/tree/path_to_root.h"
#include "formats/export/csv_line.h"
#include "formats/export/json_export.h"

namespace memprof {
namespace {

using Json = nlohmann::ordered_json;

// The first `limit` rows, and the sum of the others' live figures.
struct Limited {
  size_t shown = 0;
  Count rest;
  uint64_t stacks = 0;
  int64_t rise_bytes = 0;
};

Limited Limit(const std::vector<GrowthRow>& rows, size_t limit) {
  Limited limited;
  limited.shown = limit == 0 ? rows.size() : std::min(limit, rows.size());
  for (size_t i = limited.shown; i < rows.size(); ++i) {
    limited.rest += rows[i].live;
    limited.stacks += rows[i].stacks;
    limited.rise_bytes += rows[i].rise_bytes;
  }
  return limited;
}

Json GrowthObject(const Growth& growth) {
  Json json = {{"verdict", VerdictName(growth.verdict)}, {"reason", growth.reason}};
  auto add = [&](const char* name, const Json& value) {
    json[name] = growth.has_trend ? value : Json();
  };
  add("bytes_per_hour", growth.bytes_per_hour);
  add("low", growth.low);
  add("high", growth.high);
  add("p_value", growth.p_value);
  json["warm_up_ms"] = growth.warm_up_ms;
  json["span_ms"] = growth.span_ms;
  json["held_ms"] = growth.held_ms;
  return json;
}

Json Until(std::optional<uint64_t> limit_bytes, const GrowthReport& report, double rate) {
  const auto ms = limit_bytes && !report.load_ended_ms
                      ? TimeUntilMs(*limit_bytes, report.live.bytes, rate)
                      : std::nullopt;
  return ms ? Json(*ms) : Json();
}

Json LiveObject(const Count& live) {
  return {{"bytes", live.bytes}, {"allocations", live.allocations}};
}

const char* MemoryOf(const GrowthRow& row) { return row.mapped ? "mapped" : "heap"; }

// The stack that grew most, from the place outwards.
Json StackOf(const Profile& profile, const GrowthRow& row) {
  Json stack = Json::array();
  if (row.heaviest_node == 0) return stack;
  ProfileSite site;
  site.node = row.heaviest_node;
  for (const uint32_t node : PathToRoot(profile.nodes, LocationOf(profile, site))) {
    const ProfileFrame& frame = profile.frames[profile.nodes[node].frame];
    stack.push_back({{"function", frame.function}, {"file", frame.file}, {"line", frame.line}});
  }
  return stack;
}

Json InspectionObject(const std::map<PlaceKey, PlaceInspection>& inspected, const GrowthRow& row) {
  const auto place = inspected.find({row.function, row.file, row.line, row.module});
  if (place == inspected.end() || row.mapped) return {};
  return {{"lost", LiveObject(place->second.figures.lost())},
          {"reachable", LiveObject(place->second.figures.reachable)},
          {"held_by", place->second.held_by}};
}

void AddRows(const Profile& profile, const std::map<PlaceKey, PlaceInspection>& inspected,
             const GrowthReport& report, const std::vector<GrowthRow>& from, size_t limit,
             std::optional<uint64_t> limit_bytes, Json& rows) {
  const Limited limited = Limit(from, limit);
  for (size_t i = 0; i < limited.shown; ++i) {
    const GrowthRow& row = from[i];
    Json entry = {{"memory", MemoryOf(row)}, {"function", row.function},
                  {"file", row.file},        {"line", row.line},
                  {"module", row.module},    {"live", LiveObject(row.live)},
                  {"stacks", row.stacks},    {"rise_bytes", row.rise_bytes}};
    if (profile.tracker.sample_bytes != 0) entry["live"]["standard_error"] = row.error_bytes;
    entry.update(GrowthObject(row.growth));
    const bool grows = row.growth.verdict == GrowthVerdict::kGrows;
    entry["growing"] =
        grows ? Json({{"stacks", row.growing_stacks}, {"live", LiveObject(row.growing_live)}})
              : Json();
    if (grows) entry["stack"] = StackOf(profile, row);
    entry["inspection"] = InspectionObject(inspected, row);
    entry["until_limit_ms"] =
        grows ? Until(limit_bytes, report, row.growth.bytes_per_hour) : Json();
    rows.push_back(std::move(entry));
  }
  if (limited.shown < from.size()) {
    rows.push_back({{"memory", MemoryOf(from[0])},
                    {"function", "[others]"},
                    {"live", LiveObject(limited.rest)},
                    {"stacks", limited.stacks},
                    {"rise_bytes", limited.rise_bytes}});
  }
}

void AddCsvRows(const std::vector<GrowthRow>& rows, size_t limit, std::string& text) {
  const Limited limited = Limit(rows, limit);
  for (size_t i = 0; i < limited.shown; ++i) {
    const GrowthRow& row = rows[i];
    const Growth& growth = row.growth;
    std::vector<std::string> fields = {row.function,
                                       row.file,
                                       row.line != 0 ? fmt::format("{}", row.line) : "",
                                       row.module,
                                       VerdictName(growth.verdict),
                                       growth.reason};
    for (const double figure : {growth.bytes_per_hour, growth.low, growth.high}) {
      fields.push_back(growth.has_trend ? fmt::format("{:.1f}", figure) : "");
    }
    fields.push_back(growth.has_trend ? fmt::format("{:.3g}", growth.p_value) : "");
    for (const uint64_t figure :
         {growth.warm_up_ms, growth.held_ms, row.live.bytes, row.live.allocations}) {
      fields.push_back(fmt::format("{}", figure));
    }
    fields.emplace_back(MemoryOf(row));
    fields.push_back(fmt::format("{}", row.rise_bytes));
    text += CsvLine(fields);
  }
  if (limited.shown < rows.size()) {
    text +=
        CsvLine({"[others]", "", "", "", "", "", "", "", "", "", "", "",
                 fmt::format("{}", limited.rest.bytes), fmt::format("{}", limited.rest.allocations),
                 MemoryOf(rows[0]), fmt::format("{}", limited.rise_bytes)});
  }
}

}  // namespace

std::string GrowthJson(const Profile& profile, const GrowthReport& report, size_t limit,
                       std::optional<uint64_t> limit_bytes) {
  Json json = StatsObject(profile);
  json["notes"] = profile.notes;
  const GrowthRate sum = SumOfGrowing(report.rows);
  Json& head = json["growth"];
  head = {{"moments", report.moments},
          {"interval_ms", report.interval_ms},
          {"from_ms", report.from_ms},
          {"until_ms", report.until_ms},
          {"load_ended_ms", report.load_ended_ms ? Json(*report.load_ended_ms) : Json()},
          {"noise_floor_bytes", report.floor_bytes},
          {"confidence", 0.95},
          {"live", LiveObject(report.live)},
          {"places_that_grow", sum.places},
          {"bytes_per_hour", sum.bytes_per_hour},
          {"limit_bytes", limit_bytes ? Json(*limit_bytes) : Json()},
          {"until_limit_ms", Until(limit_bytes, report, sum.bytes_per_hour)},
          {"program", GrowthObject(report.program)},
          {"mapped", report.mapped ? GrowthObject(*report.mapped) : Json()},
          {"rss_beside_heap", report.beside_heap ? GrowthObject(*report.beside_heap) : Json()}};
  if (report.mapped) head["mapped"]["live"] = LiveObject(report.mapped_live);
  Json& rows = json["rows"] = Json::array();
  const auto inspected = InspectionByPlace(profile);
  AddRows(profile, inspected, report, report.rows, limit, limit_bytes, rows);
  AddRows(profile, inspected, report, report.mapped_rows, limit, std::nullopt, rows);
  return JsonText(json);
}

std::string GrowthCsv(const GrowthReport& report, size_t limit) {
  std::string text = CsvLine({"function", "file", "line", "module", "verdict", "reason",
                              "bytes_per_hour", "low", "high", "p_value", "warm_up_ms", "held_ms",
                              "live_bytes", "live_allocations", "memory", "rise_bytes"});
  for (const auto* rows : {&report.rows, &report.mapped_rows}) AddCsvRows(*rows, limit, text);
  return text;
}

}  // namespace memprof
