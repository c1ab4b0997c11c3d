#include "cli/budget/step_summary.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "cli/basics/message.h"
#include "cli/budget/report_formats.h"

namespace memprof {

void WriteStepSummary(const CheckReport& report) {
  const char* file = std::getenv("GITHUB_STEP_SUMMARY");
  if (file == nullptr || *file == '\0') return;
  std::ofstream summary(file, std::ios::app | std::ios::binary);
  summary << MarkdownReport(report, StyleOfFile());
  summary.close();
  if (!summary) Say("the step's summary {} can't be written: {}", file, strerror(errno));
}

}  // namespace memprof
