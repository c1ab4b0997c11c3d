// A metrics registry keyed by the name of the pod. Each deployment replaces all pods by ones with
// new names and never removes the older ones' counters: a staircase, one step a deployment.
//
// shape: leak in rare equal steps, beside scrapes
// leaks: RegisterPod
// harmless: Scrape
// runs: small medium large
#include <map>
#include <memory>
#include <string>

#include "load.h"

struct Counter {
  std::string help;
  double value;
};

class Registry {
 public:
  void RegisterPod(std::uint64_t pod, int metrics) {
    auto& counters = pods_["pod-" + std::to_string(pod)];
    for (int i = 0; i < metrics; ++i) {
      counters.push_back(std::make_unique<Counter>(
          Counter{"requests of the kind number " + std::to_string(i), 0}));
    }
  }
  std::string Scrape(load::Random& random) const {
    std::string page;
    for (std::uint64_t i = 0, n = random.Between(100, 500); i < n; ++i) page += "metric 1\n";
    return page;
  }

 private:
  std::map<std::string, std::vector<std::unique_ptr<Counter>>> pods_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 50);
  const auto base = load::BaseData(run.Pick(1.0, 5.0, 40.0));
  Registry registry;
  load::Random random(341);
  load::Arrivals scrapes(run, 342);
  double next = 0;
  while (run.Next()) {
    if (run.Seconds() > next) {
      next = run.Seconds() + 3 + 4 * random.Uniform();
      for (int i = 0; i < run.Pick(4, 10, 100); ++i) {
        registry.RegisterPod(random(), run.Pick(8, 30, 200));
      }
    }
    for (unsigned n = scrapes.Due(30); n > 0; --n) registry.Scrape(random);
  }
}
