#pragma once

#include "cli/command.h"
#include "cli/reports/terminal.h"
#include "cli/reports/view_options.h"
#include "core/profile.h"

namespace memprof {

std::string SummaryText(const Profile& profile, const ViewOptions& options, const TextStyle& style);
CommandBody SetUpSummary(CLI::App& app);

}  // namespace memprof
