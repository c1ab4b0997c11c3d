// CaptureWriter: a snapshot as the bytes of a capture.
//
// Thread safety: pure, but for the file. Invariant: equal profiles give equal bytes, since the
// snapshot is made canonical first.
// Failure: kIo with the reason (a full disk, no permission); what stood at `path` before is then
// untouched and nothing is left beside it.
#pragma once

#include <string>

#include "core/result.h"
#include "core/snapshot/snapshot.h"

namespace memprof {

std::string EncodeCapture(const Snapshot& snapshot);

// As atomic_file.h does it: at `path` there is always a whole capture or none. The file is readable
// by its owner only.
Result<void> WriteCaptureFile(const std::string& path, const Snapshot& snapshot);

}  // namespace memprof
