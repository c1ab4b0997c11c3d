// The capture's sections of what was over time: the timeline, and the moments and named snapshots
// with what was live of each site at them (CAPTURE_FORMAT.md).
//
// Thread safety: pure. Decode… give false for content that breaks the format; what they had filled
// by then is to be thrown away. Memory: bounded by core/snapshot/history.h's limits, whatever the
// content says.
#pragma once

#include <string>
#include <string_view>

#include "core/snapshot/snapshot.h"

namespace memprof {

std::string EncodeTimeline(const Timeline& timeline);
bool DecodeTimeline(std::string_view raw, Timeline& timeline);

std::string EncodeMoments(const Snapshot& snapshot);
// Pre: the snapshot's sites are there.
bool DecodeMoments(std::string_view raw, Snapshot& snapshot);
void DropMoments(Snapshot& snapshot);

std::string EncodeNamed(const Snapshot& snapshot);
// Pre: the snapshot's sites are there.
bool DecodeNamed(std::string_view raw, Snapshot& snapshot);
void DropNamed(Snapshot& snapshot);

}  // namespace memprof
