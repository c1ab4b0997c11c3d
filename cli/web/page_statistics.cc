#include "cli/web/page_statistics.h"

#include <vector>

#include "cli/web/page_columns.h"

namespace memprof {
namespace {

using Json = nlohmann::ordered_json;

Json RowsJson(const std::vector<StatisticsRow>& rows) {
  return Column(rows, [](const StatisticsRow& row) {
    Json json = {{"name", row.name}, {"count", CountJson(row.count)}};
    if (!row.place.empty()) json["place"] = row.place;
    if (row.is_rest) json["rest"] = true;
    return json;
  });
}

Json MemoryJson(const MemoryTable& memory) {
  Json json = {{"notes", memory.notes}};
  if (!memory.is_measured) return json;
  json["time_ms"] = {memory.highest_ms, memory.last_ms};
  json["rss_bytes"] = {memory.highest_rss_bytes, memory.last_rss_bytes};
  json["parts"] = Column(memory.rows, [](const MemoryTableRow& row) {
    return Json{{"meaning", row.meaning}, {"bytes", {row.highest_bytes, row.last_bytes}}};
  });
  return json;
}

}  // namespace

Json StatisticsJson(const Statistics& statistics) {
  return {{"facts", Column(statistics.facts,
                           [](const StatisticsFact& fact) {
                             return Json::array({fact.name, fact.value});
                           })},
          {"notes", statistics.notes},
          {"memory", MemoryJson(statistics.memory)},
          {"sizes", RowsJson(statistics.sizes)},
          {"kinds", RowsJson(statistics.kinds)},
          {"most_bytes", RowsJson(statistics.most_bytes)},
          {"most_blocks", RowsJson(statistics.most_blocks)}};
}

}  // namespace memprof
