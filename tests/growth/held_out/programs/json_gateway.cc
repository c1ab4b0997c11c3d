// A gateway at some hundred thousand allocations a second, all of which live as long as a
// request. The number of requests at work moves, nothing stays.
//
// shape: high rate of short lives, no growth
// leaks: none
// harmless: ParseBody, BuildAnswer
// runs: small medium large
#include <map>
#include <memory>
#include <string>

#include "load.h"

struct Request {
  double ends;
  std::map<std::string, std::string> fields;
  std::vector<std::string> answer;
};

void ParseBody(Request& request, load::Random& random) {
  for (std::uint64_t i = 0, n = random.Between(1, 12); i < n; ++i) {
    request.fields["a field with the number " + std::to_string(random.Below(100))] =
        std::string(random.Between(1, 80), 'v');
  }
}

void BuildAnswer(Request& request, load::Random& random) {
  request.answer.assign(random.Between(1, 10), std::string(random.Between(1, 90), 'a'));
}

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 30);
  const auto base = load::BaseData(run.Pick(1.0, 4.0, 60.0));
  load::Random random(851);
  load::Arrivals due(run, 852);
  std::vector<std::unique_ptr<Request>> open;
  while (run.Next()) {
    const double now = run.Seconds();
    for (unsigned n = due.Due(run.Pick(300.0, 3000.0, 8000.0)); n > 0; --n) {
      auto request = std::make_unique<Request>();
      request->ends = now + random.Exponential(0.1);
      ParseBody(*request, random);
      BuildAnswer(*request, random);
      open.push_back(std::move(request));
    }
    for (std::size_t i = 0; i < open.size();) {
      if (open[i]->ends > now) {
        ++i;
      } else {
        open[i] = std::move(open.back());
        open.pop_back();
      }
    }
  }
}
