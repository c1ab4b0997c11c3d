// GrowthScore: how often the verdicts of core/profile/growth.h are right on simulated programs.
//
// A leaking site without the verdict kGrows is missed, also if it is undecided. A site that doesn't
// leak and has the verdict kGrows is a false alarm.
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

// The score of one program, from `runs` runs with ascending seeds.
GrowthScore ScoreProgram(const SimulatedProgram& program, ParameterSet set, uint64_t first_seed,
                         uint64_t runs);

}  // namespace memprof
