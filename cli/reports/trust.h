// Trust: one line each of what keeps a profile's figures from being exact and complete. Empty:
// nothing does, but for the error of sampling, which every report shows with its figures. Of
// processes that were taken from a merge it is what is so of all that were in it.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal/terminal.h"
#include "core/profile/profile.h"

namespace memprof {

std::vector<std::string> TrustLines(const Profile& profile);

// Whether they are some processes' of a merge, of which no more is known.
bool IsOfFiguresOnly(const Profile& profile);
// Which processes the figures are of, and below it what isn't known of them, one line each. Empty:
// none were chosen, or all.
std::vector<std::string> ProcessLines(const Profile& profile);
// The same below each other, for reports that have no other head.
std::string ProcessHead(const Profile& profile, const TextStyle& style);

// "sampled: one block per …" and a line below it, for reports that have no other head; nothing of
// an exact profile.
std::string SamplingHead(const Profile& profile, const TextStyle& style);

// "Live at 9 min 58 s, the nearest of …" and a line below it; nothing where no moment was chosen.
std::string MomentHead(const Profile& profile, const TextStyle& style);
// This and the processes on stderr, for formats that have no room for it.
void SayChosen(const Profile& profile);

// "exited with 0", "was ended by SIGKILL (9)", "was still running", "executed another program",
// "ended, exit status not known".
std::string EndText(const SnapshotProgram& program);
// The same with the time, if it is known: "exited with 0 after 4.2 s".
std::string RunText(const SnapshotProgram& program);

// What the tracker took isn't a part of RSS: it counted in a file, which takes more on the disk
// than it has in the memory.
bool CountedInFile(const Profile& profile);

// A region alone doesn't know what ran, when and how it ended.
bool IsRunKnown(const SnapshotProgram& program);

}  // namespace memprof
