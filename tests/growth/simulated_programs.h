// SimulatedPrograms: the programs that the verdicts of core/profile/growth.h are scored on, each
// with the true answer of every site.
//
// What leaks goes on at the end of the run as before, and rises by more than the noise about it.
// What doesn't has come to its end within the run, or swings often enough in it to be seen
// swinging: of a store that is still filling nobody could know that it will end.
//
// Thread safety: pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/profile/growth.h"
#include "tests/growth/simulated_site.h"

namespace memprof {

struct SimulatedRun {
  double seconds = 0;
  std::vector<SimulatedSite> sites;
};

struct SimulatedProgram {
  const char* name;
  void (*add_sites)(Parameters& parameters, SimulatedRun& run);
};

std::span<const SimulatedProgram> SimulatedPrograms();

// The program's own sites and a few that are steady, over a run of 20 s to two weeks.
SimulatedRun MakeRun(const SimulatedProgram& program, ParameterSet set, uint64_t seed);

// What the supervisor keeps of a run: the moments and what is live of each site at them.
struct KeptHistory {
  std::vector<uint64_t> times_ms;
  std::vector<std::vector<uint64_t>> live_bytes;  // by site
};
KeptHistory Watch(SimulatedRun& run, uint64_t seed);

// Each site's, as memprof growth judges them together.
std::vector<Growth> JudgeSites(const KeptHistory& history);

}  // namespace memprof
