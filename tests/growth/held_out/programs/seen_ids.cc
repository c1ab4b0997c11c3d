// A feed reader that drops duplicates by a set of all the ids that it has seen. Articles are kept
// for some time and go; their ids stay.
//
// shape: hash set that grows without end, and rehashes
// leaks: IsNew
// harmless: KeepArticle
// runs: small medium large
#include <deque>
#include <string>
#include <unordered_set>

#include "load.h"

class Reader {
 public:
  explicit Reader(std::size_t articles) : max_(articles) {}
  void Receive(load::Random& random) {
    // One article in three comes twice.
    const std::uint64_t id = random.Below(3) == 0 ? last_ : (last_ = random());
    if (IsNew(id)) KeepArticle(random.Between(100, 1500));
  }

 private:
  bool IsNew(std::uint64_t id) { return seen_.insert(id).second; }
  void KeepArticle(std::uint64_t bytes) {
    articles_.emplace_back(bytes, 'a');
    if (articles_.size() > max_) articles_.pop_front();
  }

  std::size_t max_;
  std::uint64_t last_ = 0;
  std::unordered_set<std::uint64_t> seen_;
  std::deque<std::string> articles_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 34);
  const auto base = load::BaseData(run.Pick(1.0, 6.0, 40.0));
  Reader reader(run.Pick(50, 1000, 20000));
  load::Random random(91);
  load::Arrivals articles(run, 92);
  const double rate = run.Pick(20.0, 700.0, 40000.0);
  while (run.Next()) {
    for (unsigned n = articles.Due(rate); n > 0; --n) reader.Receive(random);
  }
}
