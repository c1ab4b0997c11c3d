#pragma once

#include <string>

#include "cli/command.h"
#include "cli/reports/rows.h"
#include "cli/reports/terminal.h"
#include "core/profile.h"

namespace memprof {

std::string SummaryText(const Profile& profile, const RowOptions& what, size_t rows,
                        const TextStyle& style);
CommandBody SetUpSummary(CLI::App& app);

}  // namespace memprof
