// The output formats of a check. Each is a file, and a line in the table.
//
// Thread safety: pure, except for reading the environment variables that name the checkout
// (finding_place.h). The same report gives the same bytes. Each output is bounded, however much is
// over.
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

// A screen for people: what is over its limit, with the stacks behind it.
std::string TextReport(const CheckReport& report, const TextStyle& style);
// Everything: docs/schemas/check.json.
std::string JsonReport(const CheckReport& report, const TextStyle& style);
// A suite for each capture, a case for each item; for Jenkins, GitLab and others.
std::string JunitReport(const CheckReport& report, const TextStyle& style);
// Annotations, as workflow commands on stdout: GitHub shows ten for a step.
std::string GithubReport(const CheckReport& report, const TextStyle& style);
// A job's summary, far below GitHub's limit of 1 MiB.
std::string MarkdownReport(const CheckReport& report, const TextStyle& style);
// GitLab's code quality: an issue for each item that is over.
std::string GitlabReport(const CheckReport& report, const TextStyle& style);
// SARIF 2.1.0: a result for each item that is over.
std::string SarifReport(const CheckReport& report, const TextStyle& style);

}  // namespace memprof
