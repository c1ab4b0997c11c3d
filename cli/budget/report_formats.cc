#include "cli/budget/report_formats.h"

namespace memprof {
namespace {

constexpr ReportFormat kReportFormats[] = {
    {"text", TextReport},     {"json", JsonReport},         {"junit", JunitReport},
    {"github", GithubReport}, {"markdown", MarkdownReport}, {"gitlab", GitlabReport},
    {"sarif", SarifReport},
};

}  // namespace

std::span<const ReportFormat> ReportFormats() { return kReportFormats; }

const ReportFormat* FindReportFormat(std::string_view name) {
  for (const ReportFormat& format : kReportFormats) {
    if (format.name == name) return &format;
  }
  return nullptr;
}

}  // namespace memprof
