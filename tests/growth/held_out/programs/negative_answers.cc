// A name resolver that remembers answers of a limited number of names, and also that a name does
// not exist: and of those, there is no end. Both go to the same table, by the same function.
//
// shape: saturating cache and leak in one table
// leaks: RememberMissing
// harmless: RememberAddress
// runs: small medium large
#include <map>
#include <string>

#include "load.h"

class Cache {
 public:
  bool Has(std::uint64_t name) const { return answers_.contains(name); }
  void Insert(std::uint64_t name, const char* answer) { answers_[name] = answer; }

 private:
  std::map<std::uint64_t, std::string> answers_;
};

void RememberAddress(Cache& cache, std::uint64_t name) {
  cache.Insert(name, "an address of IPv6: 2001:db8:85a3:0000:0000:8a2e:0370:7334");
}

void RememberMissing(Cache& cache, std::uint64_t name) {
  cache.Insert(name, "the name does not exist, said by ns1.example.org");
}

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 42);
  const auto base = load::BaseData(run.Pick(1.0, 3.0, 20.0));
  Cache cache;
  load::Random random(1011);
  load::Arrivals found(run, 1012);
  load::Arrivals missing(run, 1013);
  const auto names = run.Pick<std::uint64_t>(80, 2000, 50000);
  while (run.Next()) {
    for (unsigned n = found.Due(static_cast<double>(names)); n > 0; --n) {
      const std::uint64_t name = random.Zipf(names);
      if (!cache.Has(name)) RememberAddress(cache, name);
    }
    for (unsigned n = missing.Due(run.Pick(2.5, 60.0, 4000.0)); n > 0; --n) {
      RememberMissing(cache, random() | 1u << 31);
    }
  }
}
