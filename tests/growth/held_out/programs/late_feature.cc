// A storefront. After three fifths of the week, a feature flag turns recommendations on, whose
// results are kept per visitor and never dropped. Page templates are compiled on first use, all of
// them early on.
//
// shape: leak that starts late, beside a warm-up
// leaks: Recommend
// harmless: CompileTemplate, RenderPage
// runs: small medium large
#include <deque>
#include <map>
#include <string>

#include "load.h"

class Storefront {
 public:
  std::size_t Visit(load::Random& random, bool recommendations, int picks) {
    const std::string page = RenderPage(random.Zipf(300), random);
    if (recommendations) Recommend(random, picks);
    return page.size();
  }

 private:
  const std::string& CompileTemplate(std::uint64_t id) {
    std::string& compiled = templates_[id];
    if (compiled.empty()) compiled.assign(400 + id % 700, 'p');
    return compiled;
  }

  std::string RenderPage(std::uint64_t id, load::Random& random) {
    return CompileTemplate(id) + std::string(random.Between(10, 2000), 'x');
  }

  void Recommend(load::Random& random, int picks) {
    std::vector<std::uint32_t> articles(picks);
    for (auto& article : articles) article = random();
    recommended_.push_back(std::move(articles));
  }

  std::map<std::uint64_t, std::string> templates_;
  std::deque<std::vector<std::uint32_t>> recommended_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 40);
  const auto base = load::BaseData(run.Pick(1.0, 12.0, 80.0));
  Storefront storefront;
  load::Random random(51);
  load::Arrivals visits(run, 52);
  const double rate = run.Pick(100.0, 800.0, 8000.0);
  std::size_t bytes = 0;
  while (run.Next()) {
    for (unsigned n = visits.Due(rate); n > 0; --n) {
      const bool on = run.Done() > 0.6 && random.Chance(run.Pick(0.15, 0.2, 1.0));
      bytes += storefront.Visit(random, on, run.Pick(12, 20, 60));
    }
  }
  return bytes == 1;
}
