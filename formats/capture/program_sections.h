// The capture's sections on what ran: the program, and the sources of a merge (CAPTURE_FORMAT.md).
//
// Thread safety: pure. Decode… return false for content that breaks the format; the caller must
// then discard what they had filled.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/snapshot/snapshot.h"

namespace memprof {

std::string EncodeProgram(const SnapshotProgram& program);
bool DecodeProgram(std::string_view raw, SnapshotProgram& program);

// Empty if everything was seen.
std::string EncodeUnseen(const std::vector<Unseen>& unseen);
bool DecodeUnseen(std::string_view raw, std::vector<Unseen>& unseen);

// Empty if the snapshot is no merge.
std::string EncodeSources(const std::vector<SnapshotSource>& sources);
bool DecodeSources(std::string_view raw, std::vector<SnapshotSource>& sources);

}  // namespace memprof
