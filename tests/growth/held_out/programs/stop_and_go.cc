// A crawler whose robots.txt parser leaks. It is paused twice, once for a long maintenance, and
// then nothing grows for a while.
//
// shape: leak that stops at times
// leaks: parse_robots
// harmless: fetch_page
// runs: small medium large
#include "load.h"

namespace {

struct Rule {
  Rule* next;
  char pattern[24];
};

char* fetch_page(load::Random& random) {
  const std::size_t bytes = random.Between(500, 20000);
  auto* page = static_cast<char*>(std::malloc(bytes));
  std::memset(page, 'h', bytes);
  return page;
}

// Gives the first rule; the caller frees that one only.
Rule* parse_robots(load::Random& random, std::uint64_t most) {
  Rule* first = nullptr;
  for (std::uint64_t i = 0, n = random.Between(1, most); i < n; ++i) {
    auto* rule = static_cast<Rule*>(std::malloc(sizeof(Rule)));
    std::strcpy(rule->pattern, "/private/*");
    rule->next = first;
    first = rule;
  }
  return first;
}

}  // namespace

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 48);
  const auto base = load::BaseData(run.Pick(1.0, 4.0, 30.0));
  load::Random random(281);
  load::Arrivals pages(run, 282);
  std::vector<char*> recent(100);
  while (run.Next()) {
    const double done = run.Done();
    const bool paused = (done > 0.2 && done < 0.32) || (done > 0.55 && done < 0.75);
    for (unsigned n = pages.Due(paused ? 0 : run.Pick(60.0, 400.0, 3000.0)); n > 0; --n) {
      char*& page = recent[random.Below(recent.size())];
      std::free(page);
      page = fetch_page(random);
      if (random.Below(10) == 0) std::free(parse_robots(random, run.Pick(4, 12, 80)));
    }
  }
}
