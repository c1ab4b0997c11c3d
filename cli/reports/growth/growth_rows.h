// GrowthRows: judges each place of a profile by the live bytes of its stacks over time
// (core/profile/place_growth.h).
//
// Invariant: the rows' live figures sum to the program's, and every site is in one row. Thread
// safety: pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/profile/growth.h"
#include "core/profile/profile.h"

namespace memprof {

struct GrowthRow {
  bool mapped = false;   // a place that maps memory, and not of the heap
  std::string function;  // a location's, or a bracketed row
  std::string file;
  uint32_t line = 0;
  std::string module;  // path; empty: none
  Growth growth;
  Count live;                   // at the last moment
  uint64_t error_bytes = 0;     // its standard error, if it is estimated
  uint32_t stacks = 0;          // number of sites in this row
  uint32_t heaviest_node = 0;   // the leaf of the site that grew most since the warm-up
  Count growing_live;           // the part of `live` that grows, whose figures `growth` has
  uint32_t growing_stacks = 0;  // the number of its sites; 0: the place doesn't grow
  // What it has risen by from the first moment at which the sum of all places was judged (of the heap,
  // or of what is mapped) to the last: negative if it fell. The rows sum to that sum's rise.
  int64_t rise_bytes = 0;
};

struct GrowthReport {
  uint64_t moments = 0;  // number of moments that were judged
  uint64_t interval_ms = 0;
  uint64_t from_ms = 0, until_ms = 0;  // the first and the last of them
  double floor_bytes = 0;
  // Set if nothing has changed since this moment, for at least an eighth of the moments: the load
  // has ended, and what came before says nothing about what comes.
  std::optional<uint64_t> load_ended_ms;
  // Ordered by verdict: grows (the fastest first), levels off, undecided, steady; the last three by
  // live bytes.
  std::vector<GrowthRow> rows;
  Growth program;  // the sum of all rows, judged as one
  Count live;
  // The program's mappings (mmap, brk), which are in no figure above: a row for each place, in the
  // same order, their sum, and what is mapped at the last moment. Unset: their history isn't known.
  std::vector<GrowthRow> mapped_rows;
  std::optional<Growth> mapped;
  Count mapped_live;
  // The resident memory beside the live heap; unset if it isn't known.
  std::optional<Growth> beside_heap;
};

// Judges the moments from `since_ms` on, in a profile with a chosen moment up to that one.
GrowthReport MakeGrowthReport(const Profile& profile, uint64_t since_ms = 0);

// The rate of all growing places together, per hour.
struct GrowthRate {
  double bytes_per_hour = 0;
  double error = 0;  // half the confidence interval
  uint64_t places = 0;
};
GrowthRate RateOf(const Growth& growth);
GrowthRate SumOfGrowing(const std::vector<GrowthRow>& rows);

// The rows that rose, the most first, if `sum`, which they sum to, grows and none of them is sure to by
// itself: so that who makes it grow is named in any case. Empty otherwise. They point into `rows`.
std::vector<const GrowthRow*> RowsThatRose(const std::vector<GrowthRow>& rows, const Growth& sum);

// The time until `limit_bytes` are live at that rate. Unset: never, or later than in 1,000 years.
// 0: they are live already.
std::optional<uint64_t> TimeUntilMs(uint64_t limit_bytes, uint64_t live_bytes,
                                    double bytes_per_hour);

}  // namespace memprof
