// Trust: one line each of what keeps a profile's figures from being exact and complete. Empty:
// nothing does.
#pragma once

#include <string>
#include <vector>

#include "core/profile.h"

namespace memprof {

std::vector<std::string> TrustLines(const Profile& profile);

// "exited with 0", "was killed by SIGKILL (9)", "is running", "executed another program".
std::string EndText(const SnapshotProgram& program);

}  // namespace memprof
