// A geocoder whose cache is filled by two campaigns: one at the start, one at half time with other
// addresses. Each makes it larger by a step; between and after them it is only read.
//
// shape: two one-time steps
// leaks: none
// harmless: AddAddress, Geocode
// runs: small medium large
#include <algorithm>
#include <map>
#include <string>

#include "load.h"

struct Position {
  double latitude;
  double longitude;
  std::string quality;
};

class Geocoder {
 public:
  void AddAddress(std::uint64_t id) {
    cache_["Example Street " + std::to_string(id) + ", Example City"] = {50.1, 8.6,
                                                                         "rooftop, interpolated"};
  }
  std::string Geocode(load::Random& random) const {
    return "{\"lat\": 50.1, \"lon\": 8.6, \"text\": \"" + std::string(random.Between(5, 200), 'g') +
           "\"}";
  }
  std::size_t size() const { return cache_.size(); }

 private:
  std::map<std::string, Position> cache_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 40);
  const auto base = load::BaseData(run.Pick(1.0, 4.0, 20.0));
  Geocoder geocoder;
  load::Random random(841);
  load::Arrivals requests(run, 842);
  const std::size_t addresses = run.Pick(80, 2000, 80000);
  while (run.Next()) {
    const double done = run.Done();
    const double part =
        done < 0.45 ? std::min(1.0, done * 8) : 1 + std::min(1.0, (done - 0.45) * 8);
    while (geocoder.size() < static_cast<std::size_t>(part * static_cast<double>(addresses))) {
      geocoder.AddAddress(geocoder.size());
    }
    for (unsigned n = requests.Due(run.Pick(100.0, 2000.0, 30000.0)); n > 0; --n)
      geocoder.Geocode(random);
  }
}
