// The directories in which supervisors may listen: the one that a program's environment names, and the
// usual places, independent of our own environment.
//
// Thread safety: pure, but for the file system. Security: who made a directory isn't checked here
// (AskSupervisor does).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace memprof {

// `pid`: the program's or 0; `owner`: the user of the run.
std::vector<std::string> RunDirectories(uint32_t pid, uid_t owner);

}  // namespace memprof
