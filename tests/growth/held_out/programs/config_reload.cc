// A router that reads its configuration again every six seconds: the new one is complete before the
// older one is freed, and each has some routes more or fewer than the one before.
//
// shape: periodic replacement, with spikes where both are there
// leaks: none
// harmless: ReadConfiguration, Forward
// runs: small medium large
#include <map>
#include <memory>
#include <string>

#include "load.h"

using Configuration = std::map<std::uint64_t, std::string>;

std::unique_ptr<Configuration> ReadConfiguration(load::Random& random, std::uint64_t routes) {
  auto configuration = std::make_unique<Configuration>();
  for (std::uint64_t i = 0, n = random.Between(routes * 9 / 10, routes * 11 / 10); i < n; ++i) {
    (*configuration)[random()] = "via 192.0.2.1 dev eth0 metric " + std::to_string(i);
  }
  return configuration;
}

std::vector<std::uint8_t> Forward(load::Random& random) {
  return std::vector<std::uint8_t>(random.Between(64, 1500));
}

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 50);
  const auto base = load::BaseData(run.Pick(1.0, 4.0, 20.0));
  load::Random random(1031);
  load::Arrivals packets(run, 1032);
  const auto routes = run.Pick<std::uint64_t>(200, 4000, 150000);
  auto configuration = ReadConfiguration(random, routes);
  double read = 0;
  while (run.Next()) {
    for (unsigned n = packets.Due(run.Pick(200.0, 5000.0, 50000.0)); n > 0; --n) Forward(random);
    if (run.Seconds() - read > 6) {
      read = run.Seconds();
      configuration = ReadConfiguration(random, routes);
    }
  }
}
