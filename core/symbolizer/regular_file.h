// Opens files whose names come from outside: from a capture or a process.
//
// Thread safety: any thread.
#pragma once

#include <string>

#include "core/scoped_fd.h"

namespace memprof {

// Opens for reading. Returns none for a file that isn't regular (a FIFO would wait, a device might
// do anything) or can't be read. `flags` are further ones of open(2), as O_NOFOLLOW.
ScopedFd OpenRegularFile(const std::string& path, int flags = 0);

}  // namespace memprof
