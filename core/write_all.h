// WriteAll: writes all bytes to a descriptor, however much is taken at once.
//
// Thread safety: that of the descriptor.
#pragma once

#include <cstddef>

namespace memprof {

// False: the rest isn't taken (errno).
bool WriteAll(int fd, const void* bytes, size_t count);

}  // namespace memprof
