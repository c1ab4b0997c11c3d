// A rate limiter with two generations of counters: what is not in the newer one is looked up in the
// older one, and every seven seconds the older one goes and the newer one takes its place.
//
// shape: cache of two generations that are swapped
// leaks: none
// harmless: Count, Reject
// runs: small medium large
#include <map>
#include <memory>
#include <string>

#include "load.h"

struct Counter {
  std::uint64_t tokens;
  double refilled;
  std::string client;
};

class Limiter {
 public:
  using Generation = std::map<std::uint64_t, std::unique_ptr<Counter>>;

  std::uint64_t Count(std::uint64_t client) {
    auto& counter = (*newer_)[client];
    if (counter == nullptr) {
      if (const auto old = older_->find(client); old != older_->end()) {
        counter = std::make_unique<Counter>(*old->second);
      } else {
        counter = std::make_unique<Counter>(Counter{0, 0, "198.51.100." + std::to_string(client)});
      }
    }
    return ++counter->tokens;
  }
  void Swap() {
    older_ = std::move(newer_);
    newer_ = std::make_unique<Generation>();
  }

 private:
  std::unique_ptr<Generation> newer_ = std::make_unique<Generation>();
  std::unique_ptr<Generation> older_ = std::make_unique<Generation>();
};

std::string Reject(load::Random& random) {
  return "429 " + std::string(random.Between(20, 200), 'r');
}

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 55);
  const auto base = load::BaseData(run.Pick(1.0, 4.0, 30.0));
  Limiter limiter;
  load::Random random(761);
  load::Arrivals requests(run, 762);
  const auto clients = run.Pick<std::uint64_t>(100, 3000, 200000);
  double next = 7;
  while (run.Next()) {
    for (unsigned n = requests.Due(run.Pick(20.0, 500.0, 20000.0)); n > 0; --n) {
      if (limiter.Count(random.Zipf(clients)) > 1000) Reject(random);
    }
    if (run.Seconds() > next) {
      next += 7;
      limiter.Swap();
    }
  }
}
