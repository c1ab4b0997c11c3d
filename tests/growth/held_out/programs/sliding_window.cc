// A monitoring agent that keeps the measurements of the last eight seconds of each host. There are
// as many hosts at the end as at the beginning.
//
// shape: sliding window that fills first, then moves
// leaks: none
// harmless: AddSample, Aggregate
// runs: small medium large
#include <deque>
#include <map>
#include <memory>

#include "load.h"

struct Sample {
  double at;
  std::unique_ptr<double[]> values;
};

class Window {
 public:
  void AddSample(double now, load::Random& random) {
    samples_.push_back({now, std::make_unique<double[]>(random.Between(4, 20))});
    while (samples_.front().at < now - 8) samples_.pop_front();
  }
  double Aggregate() const {
    std::vector<double> sorted;
    for (const Sample& sample : samples_) sorted.push_back(sample.values[0]);
    return sorted.empty() ? 0 : sorted.back();
  }

 private:
  std::deque<Sample> samples_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 48);
  const auto base = load::BaseData(run.Pick(1.0, 5.0, 20.0));
  std::vector<Window> hosts(run.Pick(4, 50, 1000));
  load::Random random(701);
  load::Arrivals samples(run, 702);
  load::Arrivals queries(run, 703);
  double sum = 0;
  while (run.Next()) {
    for (unsigned n = samples.Due(run.Pick(30.0, 800.0, 30000.0)); n > 0; --n) {
      hosts[random.Below(hosts.size())].AddSample(run.Seconds(), random);
    }
    for (unsigned n = queries.Due(20); n > 0; --n)
      sum += hosts[random.Below(hosts.size())].Aggregate();
  }
  return sum > 1;
}
