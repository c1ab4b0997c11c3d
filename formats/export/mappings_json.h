// The program's own mappings, and where its RSS was, as JSON: in stats and in the JSON export.
//
// Thread safety: pure.
#pragma once

#include <nlohmann/json.hpp>

#include "core/snapshot/mappings.h"
#include "core/snapshot/memory_record.h"

namespace memprof {

// The totals, of mappings and of reserved address space. Null if mappings weren't followed.
nlohmann::ordered_json MappingsJson(const SnapshotMappings& mappings);

// A row's kind, file and figures.
nlohmann::ordered_json MappingJson(const SnapshotMapping& row);
nlohmann::ordered_json MappingFigureJson(const Count& figure);  // {"bytes": …, "mappings": …}

// The samples with their parts, which sum to the RSS. Null if there are none.
nlohmann::ordered_json MemoryJson(const MemoryRecord& memory);

}  // namespace memprof
