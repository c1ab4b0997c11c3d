// Check: holds captures against a budget.
//
// Thread safety: none, as loading. Memory: one capture's profile at a time, beside the baseline's.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "cli/budget/check_report.h"
#include "cli/symbols/symbol_options.h"
#include "core/result.h"

namespace memprof {

// What captures are held against.
struct Yardstick {
  std::string budget_file;
  Budget budget;
  std::string baseline_name;  // empty: none
  std::optional<Profile> baseline;
  std::chrono::year_month_day today;
};

// Failure: kUsage for a bad budget file, or one that isn't there; kUnreadable for the baseline.
Result<Yardstick> LoadYardstick(const std::string& budget_file, const std::string& baseline,
                                const SymbolOptions& symbols);

// The report points into the yardstick. A capture that can't be read is in it with its error;
// so is one whose figures aren't whole: damaged, or of a tracker that gave up.
CheckReport Check(const Yardstick& yardstick, const std::vector<std::string>& captures,
                  const SymbolOptions& symbols);

CaptureCheck CheckProfile(const Yardstick& yardstick, const std::string& capture,
                          const Profile& profile);

// "2026-12-31". kUsage for what is no day.
Result<std::chrono::year_month_day> ParseDay(const std::string& text);
std::string FormatDay(std::chrono::year_month_day day);

}  // namespace memprof
