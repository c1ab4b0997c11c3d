// Measurement: the value that a profile has for a limit of a budget.
#pragma once

#include <string>

namespace memprof {

struct Measurement {
  double value = 0;
  double variance = 0;  // of an estimate by sampling
  double bound = 0;     // the largest error beside that of sampling
  std::string why_not;  // why the capture has no such figure; empty: it has one
};

}  // namespace memprof
