// A message broker that appends each delivered event to a vector for its "replay" command, which
// nobody has used for years. Its vector doubles, for ever: growth comes in ever longer steps.
//
// shape: a vector that doubles without end, beside connection churn
// leaks: Remember
// harmless: Deliver
// runs: small medium large
#include <memory>
#include <string>

#include "load.h"

struct Event {
  std::uint64_t id;
  std::uint32_t topic;
  std::uint32_t bytes;
};

class Broker {
 public:
  void Publish(load::Random& random) {
    Deliver(random.Between(40, 400), random);
    Remember({++last_, static_cast<std::uint32_t>(random.Below(100)), 7});
  }

 private:
  // A subscriber's last message stays until its next one comes.
  void Deliver(std::uint64_t bytes, load::Random& random) {
    subscribers_[random.Below(subscribers_.size())] = std::make_unique<std::string>(bytes, 'm');
  }
  void Remember(const Event& event) { history_.push_back(event); }

  std::uint64_t last_ = 0;
  std::vector<std::unique_ptr<std::string>> subscribers_ =
      std::vector<std::unique_ptr<std::string>>(500);
  std::vector<Event> history_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 40);
  const auto base = load::BaseData(run.Pick(1.0, 10.0, 150.0));
  Broker broker;
  load::Random random(71);
  load::Arrivals events(run, 72);
  const double rate = run.Pick(100.0, 900.0, 50000.0);
  while (run.Next()) {
    for (unsigned n = events.Due(rate); n > 0; --n) broker.Publish(random);
  }
}
