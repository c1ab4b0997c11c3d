// A gateway whose cache fills all along the first half. From seven tenths of the run on, a
// neighbour fails, and every failed call leaves its context behind: little, beside a large cache.
//
// shape: late and small leak, beside a large cache that fills for half of the run
// leaks: NewCallContext
// harmless: CacheAnswer
// runs: small medium large
#include <list>
#include <memory>
#include <string>
#include <unordered_map>

#include "load.h"

struct CallContext {
  std::string url;
  std::vector<std::string> headers;
};

class Gateway {
 public:
  explicit Gateway(std::size_t answers) : most_(answers) {}
  void CacheAnswer(load::Random& random) {
    answers_.emplace_back(random.Between(100, 900), 'a');
    if (answers_.size() > most_) answers_.pop_front();
  }
  CallContext* NewCallContext(load::Random& random) {
    auto* context = new CallContext;
    context->url = "https://prices.internal.example.org/v1/quote?id=" + std::to_string(random());
    context->headers.assign(random.Between(1, 5), std::string(30, 'h'));
    return context;
  }

 private:
  std::size_t most_;
  std::list<std::string> answers_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 44);
  const auto base = load::BaseData(run.Pick(1.0, 3.0, 10.0));
  const double rate = run.Pick(60.0, 500.0, 4000.0);
  Gateway gateway(static_cast<std::size_t>(rate * run.Length() * 0.5));
  load::Random random(951);
  load::Arrivals calls(run, 952);
  while (run.Next()) {
    for (unsigned n = calls.Due(rate); n > 0; --n) {
      gateway.CacheAnswer(random);
      CallContext* context = gateway.NewCallContext(random);
      const bool failed = run.Done() > 0.7 && random.Chance(run.Pick(0.06, 0.2, 1.0));
      if (!failed) delete context;
    }
  }
}
