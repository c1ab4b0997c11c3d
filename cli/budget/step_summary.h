// The summary of a step of GitHub Actions: the file named by GITHUB_STEP_SUMMARY.
#pragma once

#include "cli/budget/check_report.h"

namespace memprof {

// Appends the report as Markdown if the variable is set: all commands of a step share one file. A
// failure to write is reported and decides nothing.
void WriteStepSummary(const CheckReport& report);

}  // namespace memprof
