// growth_bench [RUNS [PROGRAM]]: precision and recall of the verdicts of memprof growth on the
// simulated programs, for the set that the verdicts were tuned on, and for the scoring set. With a
// program's name, only for that one.
#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "tests/growth/growth_score.h"

using namespace memprof;

namespace {

void PrintSet(const char* name, ParameterSet set, uint64_t seed, uint64_t runs,
              std::string_view only) {
  fmt::print("\n{}, {} runs of each program\n", name, runs);
  fmt::print("{:<42} {:>7} {:>7} {:>12} {:>7}\n", "program", "found", "missed", "false alarms",
             "others");
  GrowthScore all;
  for (const SimulatedProgram& program : SimulatedPrograms()) {
    if (!only.empty() && only != program.name) continue;
    const GrowthScore score = ScoreProgram(program, set, seed, runs);
    fmt::print("{:<42} {:>7} {:>7} {:>12} {:>7}\n", program.name, score.found, score.missed,
               score.false_alarms, score.others);
    if (!only.empty()) {
      for (const auto& [verdict, times] : score.verdicts)
        fmt::print("  {:>7} {}\n", times, verdict);
    }
    all += score;
  }
  fmt::print("{:<42} {:>7} {:>7} {:>12} {:>7}\n", "all", all.found, all.missed, all.false_alarms,
             all.others);
  for (const auto& [verdict, times] : all.verdicts) fmt::print("{:>8} {}\n", times, verdict);
  fmt::print("precision {:.4f}  recall {:.4f}\n", all.Precision(), all.Recall());
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t runs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100;
  const std::string_view only = argc > 2 ? argv[2] : "";
  PrintSet("tuning set", ParameterSet::kTuning, 1, runs, only);
  PrintSet("scoring set", ParameterSet::kScoring, 1000001, runs, only);
  return 0;
}
