// A tracing agent that interns strings. Names of routes are few; but somebody interns trace ids as
// well, and those are all different.
//
// shape: an intern table that harmless and leaking callers share
// leaks: RecordTrace
// harmless: RecordRoute
// runs: small medium large
#include <memory>
#include <string>
#include <unordered_map>

#include "load.h"

class Interner {
 public:
  const std::string* Intern(const char* text) {
    auto& entry = entries_[text];
    if (entry == nullptr) entry = std::make_unique<std::string>(text);
    return entry.get();
  }

 private:
  std::unordered_map<std::string, std::unique_ptr<std::string>> entries_;
};

const std::string* RecordRoute(Interner& interner, load::Random& random) {
  char route[64];
  std::snprintf(route, sizeof route, "/api/v2/customers/by-region/%u/orders",
                static_cast<unsigned>(random.Zipf(400)));
  return interner.Intern(route);
}

const std::string* RecordTrace(Interner& interner, load::Random& random) {
  char trace[64];
  std::snprintf(trace, sizeof trace, "%016lx%016lx", static_cast<unsigned long>(random()),
                static_cast<unsigned long>(random()));
  return interner.Intern(trace);
}

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 36);
  const auto base = load::BaseData(run.Pick(1.0, 5.0, 20.0));
  Interner interner;
  load::Random random(311);
  load::Arrivals spans(run, 312);
  std::size_t sum = 0;
  while (run.Next()) {
    for (unsigned n = spans.Due(run.Pick(500.0, 2000.0, 20000.0)); n > 0; --n) {
      sum += RecordRoute(interner, random)->size();
      if (random.Chance(run.Pick(0.004, 0.02, 0.3))) sum += RecordTrace(interner, random)->size();
    }
  }
  return sum == 1;
}
