// MemoryText: where the program's RSS was, as a table of parts that sum to it.
//
// Thread safety: pure.
#pragma once

#include <string>

#include "cli/terminal/terminal.h"
#include "core/profile/profile.h"
#include "core/profile/statistics.h"

namespace memprof {

MemoryTable MemoryTableOf(const Profile& profile);

// Empty if it was never measured.
std::string MemoryText(const MemoryTable& memory, const TextStyle& style);
std::string MemoryText(const Profile& profile, const TextStyle& style);

}  // namespace memprof
