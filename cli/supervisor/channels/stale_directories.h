// Private directories of supervisors that were killed, and so could not remove them.
#pragma once

#include <chrono>
#include <string>

namespace memprof {

// Removes from `base` those of this user that are older than `age` (a fresh one may not listen yet)
// and whose socket nobody listens on. Failure: what can't be removed stays.
void RemoveStaleDirectories(const std::string& base, std::chrono::seconds age);

}  // namespace memprof
