// The capture's section of whose the figures of a merge are (CAPTURE_FORMAT.md).
//
// Thread safety: pure. DecodeProcesses gives false for content that breaks the format; the
// processes are to be forgotten then.
#pragma once

#include <string>
#include <string_view>

#include "core/snapshot/snapshot.h"

namespace memprof {

// Nothing where it is not known.
std::string EncodeProcesses(const Snapshot& snapshot);
// Pre: the snapshot's sources and sites are there, and what was temporary of them.
bool DecodeProcesses(std::string_view raw, Snapshot& snapshot);

}  // namespace memprof
