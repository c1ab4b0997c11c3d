// An analytics engine with a fixed number of buckets, each a vector of values for exact
// percentiles. Each bucket gets its values at its own rate, doubles at its own time, and is never
// emptied.
//
// shape: many vectors that double without end, at different times
// leaks: AddValue
// harmless: Percentile
// runs: small medium large
#include <algorithm>

#include "load.h"

class Bucket {
 public:
  void AddValue(double value) { values_.push_back(value); }
  double Percentile() const {
    std::vector<double> sorted(values_.begin(),
                               values_.begin() + std::min<std::size_t>(values_.size(), 100));
    std::sort(sorted.begin(), sorted.end());
    return sorted.empty() ? 0 : sorted[sorted.size() * 9 / 10];
  }

 private:
  std::vector<double> values_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 40);
  const auto base = load::BaseData(run.Pick(1.0, 4.0, 40.0));
  std::vector<Bucket> buckets(run.Pick(8, 40, 300));
  load::Random random(1021);
  load::Arrivals values(run, 1022);
  load::Arrivals queries(run, 1023);
  double sum = 0;
  while (run.Next()) {
    for (unsigned n = values.Due(run.Pick(30.0, 1200.0, 60000.0)); n > 0; --n) {
      buckets[random.Zipf(buckets.size()) - 1].AddValue(random.Uniform());
    }
    for (unsigned n = queries.Due(50); n > 0; --n)
      sum += buckets[random.Below(buckets.size())].Percentile();
  }
  return sum < 0;
}
