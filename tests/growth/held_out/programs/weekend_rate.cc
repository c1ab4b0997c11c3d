// An order system that leaks with each order that is amended. From Monday to Friday there are many,
// at the weekend next to none, so the growth has steps and plateaus. The search index is rebuilt
// every day.
//
// shape: leak whose rate changes (weekends), beside a rebuilt index
// leaks: AmendOrder
// harmless: RebuildIndex
// runs: small medium large
#include <memory>
#include <string>
#include <unordered_map>

#include "load.h"

struct Order {
  std::string customer;
  std::vector<int> articles;
};

class Orders {
 public:
  // The older version should go to the archive.
  void AmendOrder(load::Random& random) {
    auto* amended = new Order{std::string(random.Between(16, 80), 'c'), {}};
    amended->articles.resize(random.Between(1, 30));
    current_ = amended;
  }
  void RebuildIndex(load::Random& random, int entries) {
    auto index = std::make_unique<std::unordered_map<std::uint64_t, int>>();
    for (int i = 0; i < entries; ++i) (*index)[random()] = i;
    index_ = std::move(index);
  }

 private:
  Order* current_ = nullptr;
  std::unique_ptr<std::unordered_map<std::uint64_t, int>> index_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 56, load::End::kTearsDown);  // 14 days
  const auto base = load::BaseData(run.Pick(1.0, 7.0, 70.0));
  Orders orders;
  load::Random random(271);
  load::Arrivals amendments(run, 272);
  int day = -1;
  while (run.Next()) {
    const int today = static_cast<int>(run.Done() * 14);
    if (today != day) {
      day = today;
      orders.RebuildIndex(random, run.Pick(100, 3000, 60000));
    }
    const double busy = today % 7 >= 5 ? 0.02 : 1;
    for (unsigned n = amendments.Due(run.Pick(2.0, 60.0, 5000.0) * busy); n > 0; --n) {
      orders.AmendOrder(random);
    }
  }
}
