// What a check can be told as: one file and one line in the table each.
//
// Thread safety: pure, but for the environment that names the checkout (finding_place.h).
// The same report gives the same bytes. Each is bounded, however much is over.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/budget/check_report.h"
#include "cli/terminal/terminal.h"

namespace memprof {

struct ReportFormat {
  const char* name;
  std::string (*write)(const CheckReport& report, const TextStyle& style);
};

std::span<const ReportFormat> ReportFormats();
const ReportFormat* FindReportFormat(std::string_view name);

// A screen for people: what is over, with the stacks behind it.
std::string TextReport(const CheckReport& report, const TextStyle& style);
// All there is, "schema": 1: docs/budgets.md.
std::string JsonReport(const CheckReport& report, const TextStyle& style);
// A suite a capture, a case an item; as Jenkins, GitLab and others read it.
std::string JunitReport(const CheckReport& report, const TextStyle& style);
// Annotations, as workflow commands on stdout: GitHub shows ten of a step.
std::string GithubReport(const CheckReport& report, const TextStyle& style);
// A job's summary, far below GitHub's limit of 1 MiB.
std::string MarkdownReport(const CheckReport& report, const TextStyle& style);
// GitLab's code quality: an issue for what is over.
std::string GitlabReport(const CheckReport& report, const TextStyle& style);
// SARIF 2.1.0: a result for what is over.
std::string SarifReport(const CheckReport& report, const TextStyle& style);

}  // namespace memprof
