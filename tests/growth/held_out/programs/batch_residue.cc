// A settlement batch. Every five seconds all trades of a batch are freed, but the disputed ones,
// one in thirty, are moved to a list for the clerks, who work with another system now.
//
// shape: leak at the very place of a batch's saw-tooth
// leaks: ReadTrade
// harmless: NetPositions
// either: KeepDisputed
// runs: small medium large
#include <map>
#include <memory>
#include <string>

#include "load.h"

struct Trade {
  std::string account;
  double amount;
  bool disputed;
};

std::unique_ptr<Trade> ReadTrade(load::Random& random) {
  return std::make_unique<Trade>(
      Trade{"account number " + std::to_string(random.Below(100'000'000)), random.Uniform(),
            random.Below(30) == 0});
}

double NetPositions(const std::vector<std::unique_ptr<Trade>>& batch) {
  std::map<char, double> positions;
  for (const auto& trade : batch) positions[trade->account.back()] += trade->amount;
  return positions.empty() ? 0 : positions.begin()->second;
}

void KeepDisputed(std::vector<std::unique_ptr<Trade>>& batch,
                  std::vector<std::unique_ptr<Trade>>& disputed) {
  for (auto& trade : batch) {
    if (trade->disputed) disputed.push_back(std::move(trade));
  }
}

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 52);
  const auto base = load::BaseData(run.Pick(1.0, 4.0, 20.0));
  load::Random random(981);
  load::Arrivals trades(run, 982);
  std::vector<std::unique_ptr<Trade>> batch;
  std::vector<std::unique_ptr<Trade>> disputed;
  double settled = 0;
  double sum = 0;
  while (run.Next()) {
    for (unsigned n = trades.Due(run.Pick(60.0, 1500.0, 60000.0)); n > 0; --n) {
      batch.push_back(ReadTrade(random));
    }
    if (run.Seconds() - settled < 5) continue;
    settled = run.Seconds();
    sum += NetPositions(batch);
    KeepDisputed(batch, disputed);
    batch.clear();
  }
  return sum < 0;
}
