// The capture's sections of memory beside the heap: the program's own mappings, and where its RSS
// was (CAPTURE_FORMAT.md).
//
// Thread safety: pure. Decode… return false for content that breaks the format; the caller must
// then discard what they had filled.
#pragma once

#include <string>
#include <string_view>

#include "core/snapshot/snapshot.h"

namespace memprof {

// Empty if nothing is known of mappings.
std::string EncodeMappings(const SnapshotMappings& mappings);
// Pre: the snapshot's nodes and thread names were decoded.
bool DecodeMappings(std::string_view raw, Snapshot& snapshot);

std::string EncodeMemory(const MemoryRecord& memory);
bool DecodeMemory(std::string_view raw, MemoryRecord& memory);

// The live bytes at the time of the allocator's figures. Empty if they aren't known.
std::string EncodeAllocatorLive(const MemoryRecord& memory);
// Pre: the memory's section was decoded.
bool DecodeAllocatorLive(std::string_view raw, MemoryRecord& memory);
void ForgetAllocatorLive(MemoryRecord& memory);

}  // namespace memprof
