// The section "python" of a capture: the functions of its Python frames.
//
// Thread safety: pure. Failure: false for content that breaks the format.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/snapshot/snapshot.h"

namespace memprof {

// Empty if there are none.
std::string EncodePython(const std::vector<SnapshotPythonFunction>& functions);
bool DecodePython(std::string_view raw, std::vector<SnapshotPythonFunction>& functions);

// Checks that the frames' functions exist. If the section with the functions was lost, all Python
// frames become those of one function "?". False: a frame refers to none of the functions.
bool CheckPythonFrames(bool lost, Snapshot& snapshot);

}  // namespace memprof
