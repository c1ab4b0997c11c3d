// AtomicFile: a file that is written as a whole or not at all.
//
// The bytes are written to a file beside it, fsync'd and renamed: `path` always has a whole file or
// none. A symbolic link at `path` is replaced, never followed; but the system's own, as /dev/stdout, which
// would be lost to all programs, is refused.
// Thread safety: any thread; changes nothing in the process but the file.
// Failure: kIo with the reason (a full disk, no permission). The old file at `path` is then
// untouched, and nothing is left beside it.
#pragma once

#include <string>

#include "core/result.h"

namespace memprof {

// Captures contain the program's command line, so only their owner may read them. Reports get the
// permissions that the umask gives.
enum class Readers { kOwner, kByUmask };

// Whether there is a link in /dev or /proc, such as /dev/stdout or /dev/fd/3.
bool IsSystemsLink(const std::string& path);

Result<void> WriteFileAtomically(const std::string& path, const std::string& bytes,
                                 Readers readers);

}  // namespace memprof
