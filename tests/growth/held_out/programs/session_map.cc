// A shop that keeps a session per visitor in a map, keyed by the cookie. Logging out erases it, but
// hardly anybody logs out. Baskets of guests expire, by a sweep of their own.
//
// shape: map keyed by session that is never erased
// leaks: OpenSession
// harmless: FillBasket
// runs: small medium large
#include <deque>
#include <map>
#include <string>

#include "load.h"

struct Session {
  std::string cookie;
  std::string name;
  std::vector<int> viewed;
};

class Shop {
 public:
  void OpenSession(load::Random& random) {
    const std::uint64_t cookie = random();
    Session& session = sessions_[cookie];
    session.cookie = std::to_string(cookie);
    session.name.assign("visitor");
    session.viewed.assign(random.Between(1, 20), 1);
    if (random.Below(20) == 0) sessions_.erase(cookie);
  }
  void FillBasket(load::Random& random, double now) {
    baskets_.emplace_back(now, std::string(random.Between(30, 500), 'i'));
  }
  void Sweep(double now) {
    while (!baskets_.empty() && baskets_.front().first < now - 3) baskets_.pop_front();
  }

 private:
  std::map<std::uint64_t, Session> sessions_;
  std::deque<std::pair<double, std::string>> baskets_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 35, load::End::kTearsDown);
  const auto base = load::BaseData(run.Pick(1.0, 6.0, 64.0));
  Shop shop;
  load::Random random(171);
  load::Arrivals sessions(run, 172);
  load::Arrivals baskets(run, 173);
  while (run.Next()) {
    for (unsigned n = sessions.Due(run.Pick(1.5, 60.0, 3000.0)); n > 0; --n) {
      shop.OpenSession(random);
    }
    for (unsigned n = baskets.Due(run.Pick(20.0, 200.0, 4000.0)); n > 0; --n) {
      shop.FillBasket(random, run.Seconds());
    }
    shop.Sweep(run.Seconds());
  }
}
