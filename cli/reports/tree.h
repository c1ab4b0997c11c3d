#pragma once

#include <string>

#include "cli/command.h"
#include "cli/reports/rows.h"
#include "cli/reports/terminal.h"
#include "core/profile.h"

namespace memprof {

struct TreeOptions {
  bool leaks = false;
  bool show_runtime = false;
  size_t rows = 0;  // 0: all
  SortKey sort = SortKey::kBytes;
};

// The call tree, callers above callees; equal functions below one caller are one line.
// Invariant: a line's figure is the sum of the lines below it and of what it allocated itself;
// what is not shown is one line "[N more]" below its caller.
std::string TreeText(const Profile& profile, const TreeOptions& options, const TextStyle& style);

CommandBody SetUpTree(CLI::App& app);

}  // namespace memprof
