#include "cli/web/page_memory.h"

#include <utility>

#include "cli/web/page_columns.h"

namespace memprof {

void AddMemory(const Profile& profile, nlohmann::ordered_json& data) {
  const MappingSums mapped = SumMappings(profile.mappings.rows, false);
  if (profile.mappings.followed && mapped.total != Count{}) {
    data["mapped"] = {{"peak", CountJson(mapped.peak)}, {"end", CountJson(mapped.leaked)}};
  }
  const MemorySample* highest = HighestOf(profile.memory);
  if (highest == nullptr) return;
  auto parts = nlohmann::ordered_json::array();
  for (const MemoryPart& part : PartsOf(*highest)) {
    if (part.bytes == 0) continue;
    parts.push_back({{"name", part.name}, {"meaning", part.meaning}, {"bytes", part.bytes}});
  }
  data["rss"] = {
      {"time_ms", highest->time_ms}, {"bytes", highest->rss_bytes}, {"parts", std::move(parts)}};
}

}  // namespace memprof
