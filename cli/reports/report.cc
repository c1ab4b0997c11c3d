#include "cli/reports/report.h"

namespace memprof {

std::string NoTemporaryText(const std::string& capture) {
  return capture + " doesn't say what was temporary; profile again with this memprof";
}

int Report(const Captures& captures, const SymbolOptions& symbols, const OutputOptions& output,
           Figure figure, const ReportText& text) {
  // Checked before the work, which may take seconds.
  if (const auto free = CheckOutput(output); !free) return ExitStatusOf(free.error());
  const auto profile = LoadProfile(captures, symbols);
  if (!profile) return ExitStatusOf(profile.error());
  if (figure == Figure::kTemporary && profile->tracker.temporary_threshold == 0) {
    return ExitStatusOf({ErrorKind::kUnreadable, NoTemporaryText(TextOfNames(captures.names))});
  }
  return WriteOutput(output, text(*profile, StyleOf(output)));
}

}  // namespace memprof
