// Trust: one line each of what keeps a profile's figures from being exact and complete. Empty:
// nothing does, but for the error of sampling, which every report shows with its figures.
#pragma once

#include <string>
#include <vector>

#include "cli/reports/terminal.h"
#include "core/profile.h"

namespace memprof {

std::vector<std::string> TrustLines(const Profile& profile);

// "sampled: one block per …" and a line below it, for reports that have no other head; nothing of
// an exact profile.
std::string SamplingHead(const Profile& profile, const TextStyle& style);

// "Live at 9 min 58 s, the nearest of …" and a line below it; nothing where no moment was chosen.
std::string MomentHead(const Profile& profile, const TextStyle& style);
// The same on stderr, for formats that have no room for it.
void SayMoment(const Profile& profile);

// "exited with 0", "was killed by SIGKILL (9)", "is running", "executed another program".
std::string EndText(const SnapshotProgram& program);

// A region alone doesn't know what ran, when and how it ended.
bool IsRunKnown(const SnapshotProgram& program);

}  // namespace memprof
