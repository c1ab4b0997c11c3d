// Budget: what a program may use, as a budget file (formats/budget_file.h) says it.
//
// Thread safety: plain values.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "core/budget/bound.h"
#include "core/budget/limit_kind.h"
#include "core/budget/site_pattern.h"

namespace memprof {

struct Limit {
  const LimitKind* kind = nullptr;
  Bound bound;
  uint32_t line = 0;  // in the file
};

// Limits of the program ([budget]) or of what a pattern matches ([[budget.match]]).
struct BudgetRule {
  std::string name;       // for people: "the program", the match's name, or its patterns
  SitePattern pattern;    // empty: the program
  bool required = false;  // matching nothing is a failure
  // What an increment over the baseline allows at least.
  double noise_floor = 0;              // of limits in bytes
  double noise_floor_allocations = 0;  // of limits in blocks
  std::vector<Limit> limits;
  uint32_t line = 0;
};

// What doesn't count for the limits that it names.
struct Suppression {
  SitePattern pattern;
  std::string reason;
  std::chrono::year_month_day expires;  // the last day on which it holds
  std::vector<const LimitKind*> kinds;
  uint32_t line = 0;
};

struct Budget {
  BudgetRule program;
  std::vector<BudgetRule> matches;
  std::vector<Suppression> suppressions;
};

}  // namespace memprof
