// An inspection as one screen of text, and as JSON (docs/schemas/inspect.json).
//
// Thread safety: pure.
#pragma once

#include <cstddef>
#include <string>

#include "cli/inspect/heap_inspection.h"
#include "cli/terminal/terminal.h"

namespace memprof {

// `rows`: at most so many of each table; 0: all.
std::string InspectionText(const HeapInspection& inspection, size_t rows, const TextStyle& style);
std::string InspectionJson(const HeapInspection& inspection, size_t rows);

}  // namespace memprof
