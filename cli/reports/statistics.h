// Makes the figures of `memprof stats` (core/profile/statistics.h).
//
// Thread safety: pure.
#pragma once

#include "core/profile/profile.h"
#include "core/profile/statistics.h"

namespace memprof {

Statistics StatisticsOf(const Profile& profile);

}  // namespace memprof
