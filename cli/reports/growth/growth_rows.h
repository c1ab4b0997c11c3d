// GrowthRows: the places of a profile, each judged by what was live of it over time
// (core/profile/growth.h).
//
// Invariant: the rows' live figures sum to the program's, and every site is in one row.
// Thread safety: pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/profile/growth.h"
#include "core/profile/profile.h"

namespace memprof {

struct GrowthRow {
  std::string function;  // a location's, or a bracketed row
  std::string file;
  uint32_t line = 0;
  std::string module;  // path; empty: none
  Growth growth;
  Count live;                  // at the last moment
  uint64_t error_bytes = 0;    // its standard error, if it is estimated
  uint32_t stacks = 0;         // sites summed up here
  uint32_t heaviest_node = 0;  // the leaf of the site that grew most since the warm-up
};

struct GrowthReport {
  uint64_t moments = 0;  // that were judged
  uint64_t interval_ms = 0;
  uint64_t from_ms = 0, until_ms = 0;  // the first and the last of them
  double floor_bytes = 0;
  // What grows, the fastest first; what levels off; undecided; steady: each by what is live.
  std::vector<GrowthRow> rows;
  Growth program;  // the sum of all rows, judged as one
  Count live;
  // What is resident beside the live heap; none where that isn't known.
  std::optional<Growth> beside_heap;
};

// Judges the moments from `since_ms` on; in a profile with a chosen moment, up to that one.
GrowthReport MakeGrowthReport(const Profile& profile, uint64_t since_ms = 0);

// What all places that grow do together, in an hour.
struct GrowthRate {
  double bytes_per_hour = 0;
  double error = 0;  // half the confidence interval
  uint64_t places = 0;
};
GrowthRate RateOf(const Growth& growth);
GrowthRate SumOfGrowing(const GrowthReport& report);

// How long until so much is live, at that rate; none: never, or later than in 1,000 years. 0: it is
// already.
std::optional<uint64_t> TimeUntilMs(uint64_t limit_bytes, uint64_t live_bytes,
                                    double bytes_per_hour);

}  // namespace memprof
