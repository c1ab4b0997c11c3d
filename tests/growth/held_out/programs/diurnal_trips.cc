// A ride service over five days. Trips come by day, hardly any by night; each trip's object dies at
// its end, but one in ten leaves its route behind, since the rating that would remove it never
// comes.
//
// shape: leak that slows down with the load of each day, beside a daily wave
// leaks: PlanRoute
// harmless: StartTrip
// runs: small medium large
#include <memory>
#include <string>
#include <unordered_map>

#include "load.h"

struct Trip {
  std::string rider;
  std::string driver;
  double ends;
  bool rated;
};

class Dispatcher {
 public:
  void StartTrip(double now, load::Random& random) {
    const std::uint64_t id = ++last_;
    trips_[id] = std::make_unique<Trip>(Trip{"rider-of-the-trip-" + std::to_string(id),
                                             "driver-of-the-trip-" + std::to_string(id),
                                             now + random.Exponential(0.7), !random.Chance(0.1)});
  }
  void PlanRoute(std::uint64_t points) { routes_[last_].assign(points, 1.5f); }

  void Finish(double now) {
    for (auto i = trips_.begin(); i != trips_.end();) {
      if (i->second->ends > now) {
        ++i;
        continue;
      }
      if (i->second->rated) routes_.erase(i->first);
      i = trips_.erase(i);
    }
  }

 private:
  std::uint64_t last_ = 0;
  std::unordered_map<std::uint64_t, std::unique_ptr<Trip>> trips_;
  std::unordered_map<std::uint64_t, std::vector<float>> routes_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 45, load::End::kTearsDown);
  const auto base = load::BaseData(run.Pick(1.0, 20.0, 60.0));
  Dispatcher dispatcher;
  load::Random random(61);
  load::Arrivals trips(run, 62);
  const double rate = run.Pick(20.0, 300.0, 3000.0);
  double swept = 0;
  while (run.Next()) {
    for (unsigned n = trips.Due(rate * run.Daylight(5, 0.05)); n > 0; --n) {
      dispatcher.StartTrip(run.Seconds(), random);
      dispatcher.PlanRoute(random.Between(10, run.Pick(40, 200, 1500)));
    }
    if (run.Seconds() - swept > 0.1) {
      swept = run.Seconds();
      dispatcher.Finish(swept);
    }
  }
}
