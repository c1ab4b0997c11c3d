// Replaces descriptors 0, 1 and 2 if the caller has closed them.
#pragma once

namespace memprof {

// Opens /dev/null in place of a closed standard descriptor. Otherwise a socket or the region would
// get its number, and a message on stderr would go there. The program still gets it closed
// (O_CLOEXEC).
void HoldStandardDescriptors();

}  // namespace memprof
