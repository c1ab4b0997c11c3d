// The capture's sections of memory beside the heap: what the program mapped itself, and where its
// RSS was (CAPTURE_FORMAT.md).
//
// Thread safety: pure. Decode… give false for content that breaks the format; what they had filled
// by then is to be thrown away.
#pragma once

#include <string>
#include <string_view>

#include "core/snapshot/snapshot.h"

namespace memprof {

// Nothing where nothing is known of mappings.
std::string EncodeMappings(const SnapshotMappings& mappings);
// Pre: the snapshot's nodes and thread names are there.
bool DecodeMappings(std::string_view raw, Snapshot& snapshot);

std::string EncodeMemory(const MemoryRecord& memory);
bool DecodeMemory(std::string_view raw, MemoryRecord& memory);

// What was live when the allocator said what it said. Nothing where that isn't known.
std::string EncodeAllocatorLive(const MemoryRecord& memory);
// Pre: the memory's section was decoded.
bool DecodeAllocatorLive(std::string_view raw, MemoryRecord& memory);
void ForgetAllocatorLive(MemoryRecord& memory);

}  // namespace memprof
