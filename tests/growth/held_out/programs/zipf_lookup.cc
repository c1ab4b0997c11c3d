// A name resolver that remembers each answer. There is no limit, but there are only so many names;
// common ones come soon, rare ones late, so the growth slows down all the time.
//
// shape: cache with Zipf keys, whose growth slows down
// leaks: none
// harmless: Remember, BuildAnswer
// runs: small medium large
#include <map>
#include <string>

#include "load.h"

class Resolver {
 public:
  std::string Resolve(std::uint64_t name) {
    const auto found = answers_.find(name);
    if (found != answers_.end()) return BuildAnswer(found->second);
    return BuildAnswer(Remember(name));
  }

 private:
  const std::string& Remember(std::uint64_t name) {
    return answers_[name] = "host" + std::to_string(name) + ".example.org. 300 IN A 192.0.2.1";
  }
  static std::string BuildAnswer(const std::string& record) {
    return ";; ANSWER\n" + record + "\n";
  }

  std::map<std::uint64_t, std::string> answers_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 45, load::End::kTearsDown);
  const auto base = load::BaseData(run.Pick(1.0, 3.0, 40.0));
  Resolver resolver;
  load::Random random(511);
  load::Arrivals requests(run, 512);
  const auto names = run.Pick<std::uint64_t>(200, 4000, 60000);
  std::size_t sum = 0;
  while (run.Next()) {
    for (unsigned n = requests.Due(run.Pick(100.0, 3000.0, 60000.0)); n > 0; --n) {
      sum += resolver.Resolve(random.Zipf(names)).size();
    }
  }
  return sum == 1;
}
