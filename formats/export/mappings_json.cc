#include "formats/export/mappings_json.h"

#include <utility>

namespace memprof {
namespace {

using Json = nlohmann::ordered_json;

Json SumsJson(const MappingSums& sums) {
  return {{"peak", MappingFigureJson(sums.peak)},
          {"leaked", MappingFigureJson(sums.leaked)},
          {"total", MappingFigureJson(sums.total)}};
}

Json AllocatorJson(const AllocatorSample& said) {
  if (said.provider == AllocatorProvider::kNone) return nullptr;
  auto known = [](const std::optional<uint64_t>& bytes) { return bytes ? Json(*bytes) : Json(); };
  return {{"provider", NameOf(said.provider)},
          {"time_ms", said.time_ms},
          {"allocated_bytes", known(said.allocated_bytes)},
          {"cached_bytes", known(said.cached_bytes)},
          {"free_bytes", known(said.free_bytes)},
          {"metadata_bytes", known(said.metadata_bytes)},
          {"live_bytes", known(said.live_bytes)}};
}

Json SampleJson(const MemorySample& sample) {
  Json parts = Json::object();
  for (const MemoryPart& part : PartsOf(sample)) parts[part.name] = part.bytes;
  return {{"time_ms", sample.time_ms},
          {"rss_bytes", sample.rss_bytes},
          {"parts", std::move(parts)},
          {"allocator", AllocatorJson(sample.allocator)}};
}

}  // namespace

Json MappingFigureJson(const Count& figure) {
  return {{"bytes", figure.bytes}, {"mappings", figure.allocations}};
}

Json MappingsJson(const SnapshotMappings& mappings) {
  if (!mappings.followed && mappings.rows.empty()) return nullptr;
  Json json = SumsJson(SumMappings(mappings.rows, false));
  json["reserved"] = SumsJson(SumMappings(mappings.rows, true));
  json["followed_everywhere"] = mappings.followed;
  json["lost_events"] = mappings.lost_events;
  json["unattributed_bytes"] = mappings.unattributed_bytes;
  return json;
}

Json MappingJson(const SnapshotMapping& row) {
  Json json = {{"kind", NameOf(row.kind)}, {"reserved", row.reserved}, {"file", row.file}};
  json["peak"] = MappingFigureJson(row.peak);
  json["leaked"] = MappingFigureJson(row.leaked);
  json["total"] = MappingFigureJson(row.total);
  return json;
}

Json MemoryJson(const MemoryRecord& memory) {
  const Json said = AllocatorJson(memory.last_said);
  if (memory.samples.empty() && said.is_null()) return nullptr;
  Json samples = Json::array();
  for (const MemorySample& sample : memory.samples) samples.push_back(SampleJson(sample));
  const bool any = !memory.samples.empty();
  return {{"highest", any ? SampleJson(*HighestOf(memory)) : Json()},
          {"last", any ? SampleJson(memory.samples.back()) : Json()},
          {"allocator_last", said},
          {"samples", std::move(samples)}};
}

}  // namespace memprof
