// Budget: the limits that a budget file (formats/budget_file.h) sets for a program.
//
// Thread safety: plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/budget/bound.h"
#include "core/budget/limit_kind.h"
#include "core/budget/site_pattern.h"
#include "core/budget/suppression.h"

namespace memprof {

struct Limit {
  const LimitKind* kind = nullptr;
  Bound bound;
  uint32_t line = 0;  // in the file
};

// Limits of the whole program ([budget]) or of the sites that a pattern matches ([[budget.match]]).
struct BudgetRule {
  std::string name;       // for people: "the program", the match's name, or its patterns
  SitePattern pattern;    // empty: the program
  bool required = false;  // it is a failure if nothing matches
  // The least that an increment over the baseline allows.
  double noise_floor = 0;              // of limits in bytes
  double noise_floor_allocations = 0;  // of limits in blocks
  std::vector<Limit> limits;
  uint32_t line = 0;
};

struct Budget {
  BudgetRule program;
  std::vector<BudgetRule> matches;
  std::vector<Suppression> suppressions;
};

}  // namespace memprof
