// AtomicFile: a file that is written as a whole or not at all.
//
// The bytes are written beside it, fsync'd and renamed: at `path` there is always a whole file or
// none. A symbolic link at `path` is replaced, never followed.
// Thread safety: any thread; of the process only the file is changed.
// Failure: kIo with the reason (a full disk, no permission); what stood at `path` before is then
// untouched and nothing is left beside it.
#pragma once

#include <string>

#include "core/result.h"

namespace memprof {

// A capture tells of the program's command line and is its owner's; a report is as readable as the
// umask has it.
enum class Readers { kOwner, kByUmask };

Result<void> WriteFileAtomically(const std::string& path, const std::string& bytes,
                                 Readers readers);

}  // namespace memprof
