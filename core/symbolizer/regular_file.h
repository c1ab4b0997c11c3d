// Opens files that somebody else names: a capture, a process.
//
// Thread safety: any thread.
#pragma once

#include <string>

namespace memprof {

// For reading; -1 for what is no regular file (a FIFO would wait, a device might do anything) or
// can't be read. The caller closes it.
int OpenRegularFile(const std::string& path);

}  // namespace memprof
