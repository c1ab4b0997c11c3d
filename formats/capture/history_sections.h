// The capture's sections about time: the timeline, and the moments and named moments with each
// site's live figures at them (CAPTURE_FORMAT.md).
//
// Thread safety: pure. Decode… return false for content that breaks the format; the caller must
// then discard what they had filled. Memory: bounded by core/snapshot/history.h's limits, whatever
// the content says.
#pragma once

#include <string>
#include <string_view>

#include "core/snapshot/snapshot.h"

namespace memprof {

std::string EncodeTimeline(const Timeline& timeline);
bool DecodeTimeline(std::string_view raw, Timeline& timeline);

std::string EncodeMoments(const Snapshot& snapshot);
// Pre: the snapshot's sites were decoded.
bool DecodeMoments(std::string_view raw, Snapshot& snapshot);
void DropMoments(Snapshot& snapshot);

// What was mapped at the moments. Empty if that isn't known.
std::string EncodeMappingMoments(const SnapshotMappings& mappings);
// Pre: the snapshot's moments and mappings were decoded.
bool DecodeMappingMoments(std::string_view raw, Snapshot& snapshot);
void DropMappingMoments(SnapshotMappings& mappings);

std::string EncodeNamed(const Snapshot& snapshot);
// Pre: the snapshot's sites were decoded.
bool DecodeNamed(std::string_view raw, Snapshot& snapshot);
void DropNamed(Snapshot& snapshot);

}  // namespace memprof
