// Where a finding is shown in the sources: at the place of the first stack behind it, or else at
// its line of the budget file.
//
// Paths are relative to the checkout, as forges want them: GITHUB_WORKSPACE, CI_PROJECT_DIR, or the
// working directory. What is elsewhere stays as it is (--path-map).
#pragma once

#include <cstdint>
#include <string>

#include "cli/budget/check_report.h"

namespace memprof {

struct FindingPlace {
  std::string file;
  uint32_t line = 0;  // 0: not known
};

FindingPlace PlaceOfFinding(const CheckReport& report, const CheckItem& item);

std::string RelativeToCheckout(const std::string& file);

// What the finding is, with its stacks, as plain lines.
std::string FindingText(const CheckReport& report, const OverItem& over, size_t rows);

}  // namespace memprof
