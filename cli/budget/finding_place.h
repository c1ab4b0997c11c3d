// Chooses the place in the sources at which a finding is shown: the place of the first stack behind
// it, or else its line in the budget file.
//
// Paths are relative to the checkout, as forges want them: GITHUB_WORKSPACE, CI_PROJECT_DIR, or the
// working directory. Paths outside it stay as they are (--path-map).
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

// The finding with its stacks, as plain lines.
std::string FindingText(const CheckReport& report, const OverItem& over, size_t rows);

}  // namespace memprof
