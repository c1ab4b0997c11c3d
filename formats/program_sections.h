// The capture's sections of what ran: its program, and of a merge its sources (CAPTURE_FORMAT.md).
//
// Thread safety: pure. Decode… give false for content that breaks the format; what they had filled
// by then is to be thrown away.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/snapshot/snapshot.h"

namespace memprof {

std::string EncodeProgram(const SnapshotProgram& program);
bool DecodeProgram(std::string_view raw, SnapshotProgram& program);

// Nothing where all was seen.
std::string EncodeUnseen(const std::vector<Unseen>& unseen);
bool DecodeUnseen(std::string_view raw, std::vector<Unseen>& unseen);

// Nothing of what is no merge.
std::string EncodeSources(const std::vector<SnapshotSource>& sources);
bool DecodeSources(std::string_view raw, std::vector<SnapshotSource>& sources);

}  // namespace memprof
