// The summary of a step of GitHub Actions: the file that GITHUB_STEP_SUMMARY names.
#pragma once

#include "cli/budget/check_report.h"

namespace memprof {

// Appends the report as Markdown, where the variable is set: a step's file is one for all its
// commands. What can't be written is said; it decides nothing.
void WriteStepSummary(const CheckReport& report);

}  // namespace memprof
