// The yardstick of the check's tests: a budget and a baseline for profiles.
#pragma once

#include <gtest/gtest.h>

#include <list>
#include <string>
#include <utility>

#include "cli/budget/check.h"
#include "formats/budget_file.h"
#include "tests/cli/reports/report_profile.h"

namespace memprof {

// Kept until the end of the tests, since reports point into it.
inline Yardstick& YardstickOf(const std::string& budget) {
  static std::list<Yardstick> kept;
  Yardstick& yardstick = kept.emplace_back();
  yardstick.budget_file = "memprof.toml";
  auto parsed = ParseBudget(budget, yardstick.budget_file);
  EXPECT_TRUE(parsed) << parsed.error().message;
  yardstick.budget = std::move(*parsed);
  yardstick.today = *ParseDay("2026-11-21");
  return yardstick;
}

inline CheckReport ReportOn(const Yardstick& yardstick, const Profile& profile) {
  CheckReport report;
  report.budget = yardstick.budget_file;
  report.baseline = !yardstick.baselines.empty() ? "before.memprof" : "";
  report.captures.push_back(CheckProfile(yardstick, "x.memprof", profile));
  return report;
}

}  // namespace memprof
