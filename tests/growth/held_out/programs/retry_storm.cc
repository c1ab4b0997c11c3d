// A mail relay. Each mail that bounces is kept for another try, and each try makes one more record;
// as more and more mails wait, there are more and more records: the leak becomes faster.
//
// shape: leak that becomes faster
// leaks: RecordTry
// harmless: Receive
// runs: small medium large
#include <memory>
#include <string>

#include "load.h"

struct Try {
  std::uint64_t mail;
  double at;
  std::string answer;
};

class Relay {
 public:
  void Receive(load::Random& random) {
    inbox_[random.Below(inbox_.size())].assign(random.Between(300, 4000), 'm');
  }
  void RecordTry(load::Random& random, double now) {
    tries_.push_back(
        std::make_unique<Try>(Try{random(), now, "451 4.7.1 greylisted, please try again later"}));
  }

 private:
  std::vector<std::string> inbox_ = std::vector<std::string>(200);
  std::vector<std::unique_ptr<Try>> tries_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 42);
  const auto base = load::BaseData(run.Pick(1.0, 4.0, 20.0));
  Relay relay;
  load::Random random(391);
  load::Arrivals mails(run, 392);
  load::Arrivals tries(run, 393);
  while (run.Next()) {
    for (unsigned n = mails.Due(100); n > 0; --n) relay.Receive(random);
    const double waiting = run.Done();
    for (unsigned n = tries.Due(run.Pick(6.0, 150.0, 8000.0) * waiting); n > 0; --n) {
      relay.RecordTry(random, run.Seconds());
    }
  }
}
