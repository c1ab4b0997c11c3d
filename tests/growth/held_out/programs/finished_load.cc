// A test bench that feeds a store for three fifths of the run, and then leaves it alone; the
// service itself goes on with its housekeeping. What was stored stays, rightly.
//
// shape: load that ended before the end of the run
// leaks: none
// harmless: Put, Housekeeping
// runs: small medium large
#include <map>
#include <string>

#include "load.h"

class Store {
 public:
  void Put(load::Random& random) {
    values_["key/" + std::to_string(random())] = std::string(random.Between(50, 400), 'v');
  }
  std::size_t Housekeeping(load::Random& random) const {
    const std::vector<std::uint64_t> marks(random.Between(100, 5000), 1);
    return marks.size() + values_.size();
  }

 private:
  std::map<std::string, std::string> values_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 42, load::End::kTearsDown);
  const auto base = load::BaseData(run.Pick(1.0, 3.0, 10.0));
  Store store;
  load::Random random(591);
  load::Arrivals puts(run, 592);
  load::Arrivals rounds(run, 593);
  std::size_t sum = 0;
  while (run.Next()) {
    const bool fed = run.Done() < 0.6;
    for (unsigned n = puts.Due(fed ? run.Pick(5.0, 100.0, 6000.0) : 0); n > 0; --n)
      store.Put(random);
    for (unsigned n = rounds.Due(200); n > 0; --n) sum += store.Housekeeping(random);
  }
  return sum == 1;
}
