// The interactive view of a running program, with ncurses.
//
// Thread safety: none; one at a time, since it owns the terminal. Leaving it does nothing to the program.
#pragma once

#include <chrono>

#include "cli/live/live_session.h"
#include "cli/live/live_table.h"

namespace memprof {

// Pre: FullScreen::CanShow. Looks every `delay`. Returns when the reader quits. False: the terminal
// couldn't be set up.
bool ShowTopScreen(LiveSession& session, const LiveView& view, std::chrono::milliseconds delay);

}  // namespace memprof
