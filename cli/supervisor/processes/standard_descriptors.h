// Descriptors 0, 1 and 2 where the caller has closed them.
#pragma once

namespace memprof {

// Puts /dev/null where a standard descriptor is closed, else a socket or the region would take its
// number, and a message on stderr would go there. The program still gets it closed (O_CLOEXEC).
void HoldStandardDescriptors();

}  // namespace memprof
