// Judge: a profile held against a budget.
//
// Over is what is surely over: a figure equal to its limit is within. Where a figure isn't exact
// (estimates of sampling, a peak within a bound), it is over if it is by more than it may be off:
//
//   value − limit  >  2 × standard error of the difference + bounds
//
// and a value above its limit by less is within and marked uncertain. A limit against a baseline is
// judged with a baseline only; what a capture has no figure for isn't judged either, and says why.
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
  bool uncertain = false;  // above the limit, by less than the figure may be off
  double value = 0;
  double standard_error = 0;       // of the value
  double bound = 0;                // it is off by at most this, beside
  double most = 0;                 // what is allowed; meaningless if not judged
  bool against_baseline = false;   // the increments decided, not the absolute limit
  std::optional<double> baseline;  // its value
  double suppressed = 0;           // would be in the value, but for suppressions
  std::string why_not_judged;
  std::vector<uint32_t> sites;           // that are in the value: indices
  std::vector<uint32_t> baseline_sites;  // likewise, of the baseline
};

struct MatchVerdict {
  const BudgetRule* rule = nullptr;
  bool matches = false;  // any site
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
