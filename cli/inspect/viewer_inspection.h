// Inspections for a viewer, by a memprof of their own: a copy is taken by a process with one thread.
//
// Thread safety: any thread. Failure: the text says why.
#pragma once

#include <sys/types.h>

#include <string>

namespace memprof {

// What memprof inspect prints about a process, in so many columns.
std::string InspectionTextOf(pid_t process, size_t columns);

// "process 4711 stands still twice for about 12 ms".
std::string CostOfInspecting(pid_t process);

}  // namespace memprof
