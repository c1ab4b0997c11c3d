// MemoryText: where the program's RSS was, as a table of parts that sum to it.
//
// Thread safety: pure.
#pragma once

#include <string>

#include "cli/terminal/terminal.h"
#include "core/profile/profile.h"

namespace memprof {

// Empty if it was never measured.
std::string MemoryText(const Profile& profile, const TextStyle& style);

}  // namespace memprof
