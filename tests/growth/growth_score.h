// GrowthScore: how often the verdicts of core/profile/growth.h are right on simulated programs.
//
// A site that leaks and isn't said to grow is missed, also if it is undecided; one that doesn't
// leak and is said to grow is a false alarm.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tests/growth/simulated_programs.h"

namespace memprof {

struct GrowthScore {
  uint64_t found = 0, missed = 0, false_alarms = 0, others = 0;
  std::map<std::string, uint64_t> verdicts = {};  // "cache: levels off (…)", how often

  double Precision() const;
  double Recall() const;
  GrowthScore& operator+=(const GrowthScore& o);
};

// Of one program, by `runs` runs with seeds from that one on.
GrowthScore ScoreProgram(const SimulatedProgram& program, ParameterSet set, uint64_t first_seed,
                         uint64_t runs);

}  // namespace memprof
