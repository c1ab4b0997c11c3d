// The interactive tree on a terminal, with ncurses: expand, search, sort, quit.
//
// Thread safety: none; one at a time, since it owns the terminal.
#pragma once

#include "cli/reports/tree/call_tree.h"
#include "core/profile/profile.h"

namespace memprof {

// Pre: FullScreen::CanShow. Returns when the reader quits. False: the terminal couldn't be set up, and nothing was shown.
bool ShowTreeScreen(const Profile& profile, const CallTreeOptions& options);

}  // namespace memprof
