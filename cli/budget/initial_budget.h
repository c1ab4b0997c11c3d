// A first budget file, from a run: what it measured, and headroom.
//
// Headroom is a quarter of the figure, rounded up to two digits; what was 0 stays 0. The limits are
// of the program, and the peak of the three functions that hold most of it, if that is a tenth.
//
// Invariant: the profile is within the file.
// Thread safety: pure.
#pragma once

#include <string>

#include "core/profile/profile.h"

namespace memprof {

// `capture`: its name, for a comment.
std::string InitialBudget(const Profile& profile, const std::string& capture);

}  // namespace memprof
