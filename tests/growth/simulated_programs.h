// SimulatedPrograms: the programs on which the verdicts of core/profile/growth.h are scored, each
// with the true answer of every site.
//
// A leak goes on at the end of the run as before, and rises by more than its noise. Everything else
// has come to its end within the run, or swings often enough to be recognised: nobody could know
// that a store that is still filling will stop.
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
  bool is_small = false;           // has no sites but the program's own
  bool frees_all_at_exit = false;  // the last moment falls into the tear-down
};

struct SimulatedProgram {
  const char* name;
  void (*add_sites)(Parameters& parameters, SimulatedRun& run);
};

std::span<const SimulatedProgram> SimulatedPrograms();

// The program's own sites and a few steady ones, over a run of 20 s to two weeks.
SimulatedRun MakeRun(const SimulatedProgram& program, ParameterSet set, uint64_t seed);

// The history that the supervisor keeps of a run: the moments and each site's live bytes at them.
struct KeptHistory {
  std::vector<uint64_t> times_ms;
  std::vector<std::vector<uint64_t>> live_bytes;  // by site
  std::vector<uint64_t> blocks;                   // by site, at every moment
};
KeptHistory Watch(SimulatedRun& run, uint64_t seed);

// Each site's, as memprof growth judges them together.
std::vector<Growth> JudgeSites(const KeptHistory& history);

}  // namespace memprof
