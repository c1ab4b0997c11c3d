// The section "inspection" of a capture: which live blocks are lost, and what holds the others.
//
// Thread safety: pure. Failure: false for content that breaks the format.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/snapshot/inspection_record.h"

namespace memprof {

// Empty if there was no inspection.
std::string EncodeInspection(const SnapshotInspection& inspection);
bool DecodeInspection(std::string_view raw, size_t nodes, SnapshotInspection& inspection);

}  // namespace memprof
