// Measurement: what a profile has of something that a budget limits.
#pragma once

#include <string>

namespace memprof {

struct Measurement {
  double value = 0;
  double variance = 0;  // of an estimate by sampling
  double bound = 0;     // off by at most this, beside the sampling
  std::string why_not;  // there is no such figure in the capture; empty: there is
};

}  // namespace memprof
