#include "tests/growth/growth_score.h"

#include <fmt/format.h>

namespace memprof {
namespace {

double Share(uint64_t part, uint64_t rest) {
  return part + rest == 0 ? 1 : static_cast<double>(part) / static_cast<double>(part + rest);
}

}  // namespace

double GrowthScore::Precision() const { return Share(found, false_alarms); }
double GrowthScore::Recall() const { return Share(found, missed); }

GrowthScore& GrowthScore::operator+=(const GrowthScore& o) {
  found += o.found;
  missed += o.missed;
  false_alarms += o.false_alarms;
  others += o.others;
  for (const auto& [verdict, times] : o.verdicts) verdicts[verdict] += times;
  return *this;
}

GrowthScore ScoreProgram(const SimulatedProgram& program, ParameterSet set, uint64_t first_seed,
                         uint64_t runs) {
  GrowthScore score;
  const auto number = static_cast<uint64_t>(&program - SimulatedPrograms().data());
  for (uint64_t i = 0; i < runs; ++i) {
    const uint64_t seed = (first_seed + i) * SimulatedPrograms().size() + number;
    SimulatedRun run = MakeRun(program, set, seed);
    const std::vector<Growth> verdicts = JudgeSites(Watch(run, seed));
    for (size_t site = 0; site < verdicts.size(); ++site) {
      const bool grows = verdicts[site].verdict == GrowthVerdict::kGrows;
      const bool leaks = run.sites[site].leaks;
      ++(leaks ? (grows ? score.found : score.missed)
               : (grows ? score.false_alarms : score.others));
      ++score.verdicts[fmt::format("{}: {} ({})", run.sites[site].name,
                                   VerdictName(verdicts[site].verdict), verdicts[site].reason)];
    }
  }
  return score;
}

}  // namespace memprof
