// A newspaper's site over six days. Readers' sessions expire half an hour after their last click,
// so the heap follows the day.
//
// shape: daily wave
// leaks: none
// harmless: StartSession, RenderArticle
// runs: small medium large
#include <list>
#include <string>

#include "load.h"

struct Session {
  double expires;
  std::string id;
  std::string last_article;
};

class Site {
 public:
  void StartSession(double now, load::Random& random) {
    sessions_.push_back({now + 1.0, "session/" + std::to_string(random()),
                         std::string(random.Between(20, 300), 'a')});
  }
  void Expire(double now) {
    while (!sessions_.empty() && sessions_.front().expires < now) sessions_.pop_front();
  }
  std::string RenderArticle(load::Random& random) const {
    return std::string(random.Between(1000, 20000), 'x');
  }

 private:
  std::list<Session> sessions_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 48);
  const auto base = load::BaseData(run.Pick(1.0, 8.0, 120.0));
  Site site;
  load::Random random(571);
  load::Arrivals readers(run, 572);
  while (run.Next()) {
    const double rate = run.Pick(100.0, 2000.0, 50000.0) * run.Daylight(6, 0.1);
    for (unsigned n = readers.Due(rate); n > 0; --n) {
      site.StartSession(run.Seconds(), random);
      if (n % 16 == 0) site.RenderArticle(random);
    }
    site.Expire(run.Seconds());
  }
}
