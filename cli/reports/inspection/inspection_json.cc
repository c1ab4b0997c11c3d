#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/reports/inspection/inspection_text.h"
#include "core/printable.h"
#include "core/profile/inspection_rows.h"

namespace memprof {
namespace {

using Json = nlohmann::ordered_json;

Json CountJson(const Count& count) {
  return {{"bytes", count.bytes}, {"allocations", count.allocations}};
}

void AddFigures(Json& json, const HeldFigures& figures) {
  json["live"] = CountJson(figures.live());
  json["lost_directly"] = CountJson(figures.lost_directly);
  json["lost_indirectly"] = CountJson(figures.lost_indirectly);
  json["lost_in_cycles"] = CountJson(figures.in_cycles);
  json["reachable"] = CountJson(figures.reachable);
  json["inherited"] = CountJson(figures.inherited);
  json["unknown"] = CountJson(figures.unknown);
}

}  // namespace

std::string InspectionJson(const Profile& profile, size_t rows) {
  const SnapshotInspection& inspection = profile.inspection;
  Json json = {{"schema", 1},
               {"program", profile.program.program},
               {"pid", profile.program.pid},
               {"time_ms", inspection.time_ms},
               {"looks", inspection.looks},
               {"longest_pause_us", inspection.longest_pause_us},
               {"took_ms", inspection.took_ms}};
  AddFigures(json, SumOf(inspection));
  json["notes"] = inspection.notes;
  std::vector<InspectionRow> places = InspectionRows(profile);
  uint64_t free_bytes = 0;
  for (const InspectionRow& row : places) free_bytes += row.free_bytes;
  json["pages"] = {{"free_bytes", free_bytes}};
  std::stable_sort(places.begin(), places.end(),
                   [](const InspectionRow& a, const InspectionRow& b) {
                     return a.figures.live().bytes > b.figures.live().bytes;
                   });
  json["places"] = Json::array();
  for (const InspectionRow& row : places) {
    if (rows != 0 && json["places"].size() == rows) break;
    Json place = {{"function", row.place.function},
                  {"file", row.place.file},
                  {"line", row.place.line},
                  {"module", row.place.module},
                  {"kind", row.kind}};
    AddFigures(place, row.figures);
    place["retained_bytes"] = row.retained_bytes;
    place["pages"] = {{"alone_bytes", row.alone_bytes}, {"free_bytes", row.free_bytes}};
    json["places"].push_back(std::move(place));
  }
  json["paths"] = Json::array();
  for (const PathRow& row : PathRows(profile)) {
    if (rows != 0 && json["paths"].size() == rows) break;
    json["paths"].push_back({{"path", row.path}, {"held", CountJson(row.own)}});
  }
  return WithEscapedControls(json.dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace memprof
