// CaptureWriter: writes a snapshot as the bytes of a capture.
//
// Thread safety: pure, but for the file. Invariant: equal snapshots give equal bytes.
// Failure: kIo with the reason (a full disk, no permission). The old file at `path` is then
// untouched, and nothing is left beside it.
#pragma once

#include <string>

#include "core/result.h"
#include "core/snapshot/canonical_snapshot.h"

namespace memprof {

std::string EncodeCapture(const CanonicalSnapshot& canonical);

// Writes as atomic_file.h does: `path` always has a whole capture or none. Only the owner can read
// the file.
Result<void> WriteCaptureFile(const std::string& path, const CanonicalSnapshot& snapshot);

}  // namespace memprof
