// What a viewer leaves in files: a look as a capture, or as the flame graph page.
//
// Thread safety: pure, but for the files and the program that opens a page.
#pragma once

#include <string>

#include "cli/live/live_session.h"

namespace memprof {

// The name that is proposed for a capture of this look, in the working directory: the run's, with the time
// of day.
std::string NameForLook(const LiveSession& session);

// Writes the look. Returns what to say of it.
std::string SaveLook(const LiveSession& session, const std::string& file);

// Writes the page into the working directory, and opens it if there is a display. Returns what to say.
std::string WriteLookPage(LiveSession& session);

}  // namespace memprof
