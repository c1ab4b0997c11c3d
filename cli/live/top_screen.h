// The interactive view of a running program, with ncurses.
//
// Thread safety: none; one at a time, since it owns the terminal. Leaving it does nothing to the program.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>

#include "cli/live/live_session.h"
#include "cli/live/live_table.h"
#include "cli/live/program_output.h"

namespace memprof {

struct TopScreenOptions {
  LiveView view;
  std::chrono::milliseconds delay{1000};  // from look to look
  // The program's, if it was started with the view: a key shows its last lines. Must outlive the view.
  ProgramOutput* output = nullptr;
  // What a process holds, as text of so many columns, or why it can't be said; a key shows it.
  std::function<std::string(pid_t process, size_t columns)> inspect;
  // What inspecting it costs the process, asked before.
  std::function<std::string(pid_t process)> cost_of_inspecting;
};

// Pre: FullScreen::CanShow. Returns when the reader quits. False: the terminal couldn't be set up.
bool ShowTopScreen(LiveSession& session, const TopScreenOptions& options);

}  // namespace memprof
