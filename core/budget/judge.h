// Judge: checks a profile against a budget.
//
// A figure is over its limit only if that is certain. A figure equal to its limit is within. A
// figure that isn't exact (an estimate by sampling, a peak within a bound) is over only if
//
//   value − limit  >  2 × standard error of the difference + bounds
//
// A value that exceeds its limit by less is within, and marked uncertain. A limit relative to a
// baseline is judged only if there is a baseline. If a capture lacks the figure, the limit isn't
// judged, and the judgement says why.
//
// Thread safety: pure. Ownership: the judgement points into the budget, which must outlive it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/budget/budget.h"

namespace memprof {

enum class Standing { kWithin, kOver, kNotJudged };

struct LimitVerdict {
  const BudgetRule* rule = nullptr;
  const Limit* limit = nullptr;
  Standing standing = Standing::kWithin;
  bool uncertain = false;  // above the limit, but by less than the figure's error
  double value = 0;
  double standard_error = 0;       // of the value
  double bound = 0;                // the largest error of the value beside its standard error
  double most = 0;                 // the limit; meaningless if not judged
  bool against_baseline = false;   // the increments decided, not the absolute limit
  std::optional<double> baseline;  // the baseline's value
  double suppressed = 0;           // what suppressions took out of the value
  double of_running_threads = 0;   // the part of leaked blocks of threads that still ran at the end
  std::string why_not_judged;
  std::vector<uint32_t> sites;           // the sites that the value sums, as indices
  std::vector<uint32_t> baseline_sites;  // likewise in the baseline
};

struct MatchVerdict {
  const BudgetRule* rule = nullptr;
  bool matches = false;  // at least one site matches
};

struct SuppressionVerdict {
  const Suppression* suppression = nullptr;
  bool expired = false;
  bool matches = false;
};

struct Judgement {
  std::vector<LimitVerdict> limits;
  std::vector<MatchVerdict> matches;
  std::vector<SuppressionVerdict> suppressions;
};

// `baseline` may be null.
Judgement Judge(const Budget& budget, const Profile& profile, const Profile* baseline,
                std::chrono::year_month_day today);

}  // namespace memprof
