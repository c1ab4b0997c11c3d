// A large application with sixty services, each of which is made when it is first asked for. Some
// are asked for at once, some only on Thursday.
//
// shape: singletons that are initialized lazily, at random times
// leaks: none
// harmless: Service, Request
// runs: small medium large
#include <string>
#include <utility>

#include "load.h"

std::size_t table_entries = 10;

template <int N>
const std::vector<std::string>& Service() {
  static const std::vector<std::string> table(table_entries * (1 + N % 4),
                                              std::string(20 + N, 's'));
  return table;
}

template <int... N>
auto Services(std::integer_sequence<int, N...>) {
  return std::vector<const std::vector<std::string>& (*)()>{&Service<N>...};
}

std::string Request(load::Random& random) { return std::string(random.Between(30, 3000), 'q'); }

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 38);
  const auto base = load::BaseData(run.Pick(1.0, 10.0, 50.0));
  table_entries = run.Pick(2, 40, 4000);
  const auto services = Services(std::make_integer_sequence<int, 60>());
  load::Random random(641);
  load::Arrivals requests(run, 642);
  std::size_t sum = 0;
  while (run.Next()) {
    for (unsigned n = requests.Due(run.Pick(40.0, 50.0, 80.0)); n > 0; --n) {
      sum += services[random.Zipf(services.size()) - 1]().size() + Request(random).size();
    }
  }
  return sum == 1;
}
