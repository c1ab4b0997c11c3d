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

// Written beside, fsync'd and renamed: at `path` there is always a whole capture or none. The file
// is readable by its owner only; a symbolic link at `path` is replaced, never followed.
Result<void> WriteCaptureFile(const std::string& path, const Snapshot& snapshot);

// The same for any bytes. A capture tells of the program's command line and is its owner's; a
// report is as readable as the umask has it.
enum class Readers { kOwner, kByUmask };
Result<void> WriteFileAtomically(const std::string& path, const std::string& bytes,
                                 Readers readers);

}  // namespace memprof
