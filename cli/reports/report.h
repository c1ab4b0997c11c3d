// Report: what every report does around its text: look at its output first, load, write.
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

// Gives the exit status; failures are said, also that the capture has no such figure.
int Report(const Captures& captures, const SymbolOptions& symbols, const OutputOptions& output,
           Figure figure, const ReportText& text);

std::string NoTemporaryText(const std::string& capture);  // why there is no such figure

}  // namespace memprof
