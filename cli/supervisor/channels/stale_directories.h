// Removes private directories of supervisors that were killed and so could not remove them.
#pragma once

#include <chrono>
#include <string>

namespace memprof {

// Removes from `base` those directories of this user that are older than `age` and on whose socket
// nobody listens (a new one may not listen yet). Failure: what can't be removed stays.
void RemoveStaleDirectories(const std::string& base, std::chrono::seconds age);

}  // namespace memprof
