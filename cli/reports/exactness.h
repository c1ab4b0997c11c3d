// Exactness notes: one line for each reason why a profile's figures aren't exact and complete. Empty if there
// is none. The error of sampling is no such reason: every report shows it with the figures. If
// processes were chosen from a merge, the reasons are those of all its processes.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal/terminal.h"
#include "core/profile/profile.h"

namespace memprof {

std::vector<std::string> ExactnessNotes(const Profile& profile);

// True if the profile has some processes of a merge that knows only their figures.
bool IsOfFiguresOnly(const Profile& profile);
// The chosen processes, and below them what isn't known about them, one line each. Empty if none
// were chosen, or all.
std::vector<std::string> ProcessLines(const Profile& profile);
// The same as separate lines, and CutText, for reports that have no other head.
std::string ProcessHead(const Profile& profile, const TextStyle& style);

// "sampled: one block per …" and a line below it, for reports that have no other head; empty for an
// exact profile.
std::string SamplingHead(const Profile& profile, const TextStyle& style);

// "Live at 9 min 58 s, the nearest of …" and a line below it; empty if no moment was chosen.
std::string MomentHead(const Profile& profile, const TextStyle& style);
// Prints this, the processes and CutText on stderr, for formats that have no room for it.
void SayChosen(const Profile& profile);

// The run, or the processes of a merge, whose end is in no capture: a checkpoint is all there is.
// Empty: every end is there.
std::string CutText(const Profile& profile);
// The same as a line, and on stderr.
std::string CutHead(const Profile& profile, const TextStyle& style);
void SayCut(const Profile& profile);

// "exited with 0", "was ended by SIGKILL (9)", "was still running", "executed another program",
// "ended, exit status not known".
std::string EndText(const SnapshotProgram& program);
// The same with the time, if it is known: "exited with 0 after 4.2 s".
std::string RunText(const SnapshotProgram& program);

// True if the tracker's memory isn't a part of RSS: it counted in a file, which takes more on the
// disk than in memory.
bool CountedInFile(const Profile& profile);

// False for a region alone: it doesn't know what ran, when, and how it ended.
bool IsRunKnown(const SnapshotProgram& program);

}  // namespace memprof
