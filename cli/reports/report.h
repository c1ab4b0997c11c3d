// Report: the steps that every report does around its text: check the output first, load, write.
#pragma once

#include <functional>
#include <string>

#include "cli/load/load.h"
#include "cli/reports/rows.h"
#include "cli/symbols/symbol_options.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"
#include "core/profile/profile.h"

namespace memprof {

using ReportText = std::function<std::string(const Profile& profile, const TextStyle& style)>;

// Returns the exit status. Failures are printed, also if the capture lacks the figure.
int Report(const Captures& captures, const SymbolOptions& symbols, const OutputOptions& output,
           Figure figure, const ReportText& text);

// why the capture lacks the temporary figure
std::string NoTemporaryText(const std::string& capture);

}  // namespace memprof
