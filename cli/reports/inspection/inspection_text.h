// A profile's inspection, which it must have, as one screen of text, and as JSON (docs/schemas/inspect.json).
//
// Thread safety: pure.
#pragma once

#include <cstddef>
#include <string>

#include "cli/terminal/terminal.h"
#include "core/profile/profile.h"

namespace memprof {

// `rows`: at most so many of each table; 0: all.
std::string InspectionText(const Profile& profile, size_t rows, const TextStyle& style);
std::string InspectionJson(const Profile& profile, size_t rows);

}  // namespace memprof
