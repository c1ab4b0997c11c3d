// A replica that falls behind in the middle third of the run, since its network is slow, and
// catches up afterwards. Its queue is long for a time, and short in the end.
//
// shape: backlog that grows for long, then drains
// leaks: none
// harmless: ReceiveChange, ApplyChange
// runs: small medium large
#include <deque>
#include <string>

#include "load.h"

class Replica {
 public:
  void ReceiveChange(load::Random& random) {
    changes_.push_back("UPDATE orders SET " + std::string(random.Between(10, 150), 'c'));
  }
  std::size_t ApplyChange() {
    if (changes_.empty()) return 0;
    const std::vector<char> page(changes_.front().begin(), changes_.front().end());
    changes_.pop_front();
    return page.size();
  }

 private:
  std::deque<std::string> changes_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 45);
  const auto base = load::BaseData(run.Pick(1.0, 5.0, 40.0));
  Replica replica;
  load::Random random(831);
  load::Arrivals changes(run, 832);
  load::Arrivals applied(run, 833);
  const double rate = run.Pick(20.0, 600.0, 20000.0);
  std::size_t sum = 0;
  while (run.Next()) {
    const double done = run.Done();
    const double speed = done < 0.33 ? 1.3 : done < 0.6 ? 0.5 : 1.8;
    for (unsigned n = changes.Due(rate); n > 0; --n) replica.ReceiveChange(random);
    for (unsigned n = applied.Due(rate * speed); n > 0; --n) sum += replica.ApplyChange();
  }
  return sum == 1;
}
