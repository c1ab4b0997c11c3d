// The capture's section with the figures of a merge by process (CAPTURE_FORMAT.md).
//
// Thread safety: pure. DecodeProcesses returns false for content that breaks the format; the caller
// must then discard the processes.
#pragma once

#include <string>
#include <string_view>

#include "core/snapshot/snapshot.h"

namespace memprof {

// Empty if the processes are not known.
std::string EncodeProcesses(const Snapshot& snapshot);
// Pre: the snapshot's sources and sites were decoded, and the sites' temporary figures.
bool DecodeProcesses(std::string_view raw, Snapshot& snapshot);

}  // namespace memprof
