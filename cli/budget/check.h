// Check: checks captures against a budget.
//
// Thread safety: none, as loading. Memory: one capture's profile at a time, and the baseline's.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "cli/budget/check_report.h"
#include "cli/symbols/symbol_options.h"
#include "core/result.h"

namespace memprof {

// How many captures of a folder are baselines: the newest.
inline constexpr size_t kMostKeptBaselines = 10;

// The budget and the baselines that captures are checked against. If there are several, each limit is
// relative to the median of their figures: a low run among them fails nothing, and what rises by a
// little every night exceeds the limit once it has risen by that much since half of them.
struct Yardstick {
  std::string budget_file;
  Budget budget;
  std::vector<std::string> baseline_names;  // as they were given
  std::vector<Profile> baselines;           // oldest first
  std::vector<std::string> notes;           // what of a folder is no baseline, and why
  std::chrono::year_month_day today;
  bool allow_cut = false;  // judge also a capture without an end: a checkpoint of a run
};

// Failure: kUsage for a budget file that is wrong or missing; kUnreadable for the baseline.
// A baseline is a capture, or a folder of kept ones, whose names end with .memprof; one that isn't
// usable is left out of a folder. An empty folder is no baseline: that is the first night's.
Result<Yardstick> LoadYardstick(const std::string& budget_file,
                                const std::vector<std::string>& baselines,
                                const SymbolOptions& symbols);

// The report points into the yardstick. A capture that can't be read is in the report with its
// error; so is one with incomplete figures: it is damaged, or its tracker gave up.
CheckReport Check(const Yardstick& yardstick, const std::vector<std::string>& captures,
                  const SymbolOptions& symbols);

CaptureCheck CheckProfile(const Yardstick& yardstick, const std::string& capture,
                          const Profile& profile);

// "2026-12-31". Failure: kUsage for text that is no day.
Result<std::chrono::year_month_day> ParseDay(const std::string& text);
std::string FormatDay(std::chrono::year_month_day day);

}  // namespace memprof
