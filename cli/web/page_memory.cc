#include "cli/web/page_memory.h"

#include <utility>

#include "cli/web/page_columns.h"

namespace memprof {
using Json = nlohmann::ordered_json;

void AddMemory(const Profile& profile, Json& data) {
  const MappingSums mapped = SumMappings(profile.mappings.rows, false);
  if (profile.mappings.followed && mapped.total != Count{}) {
    data["mapped"] = {{"peak", CountJson(mapped.peak)}, {"end", CountJson(mapped.leaked)}};
  }
  const MemorySample* highest = HighestOf(profile.memory);
  if (highest == nullptr) return;
  Json parts = Json::array();
  for (const MemoryPart& part : PartsOf(*highest)) {
    if (part.bytes == 0) continue;
    parts.push_back({{"name", part.name}, {"meaning", part.meaning}, {"bytes", part.bytes}});
  }
  data["rss"] = {
      {"time_ms", highest->time_ms}, {"bytes", highest->rss_bytes}, {"parts", std::move(parts)}};
}

}  // namespace memprof
