// A driver host that registers each device when it is first seen, and frees all of them at exit
// only. There are so many devices in the building; the last of them is seen at two fifths of the
// run.
//
// shape: bounded memory that is freed only at exit
// leaks: none
// harmless: RegisterDevice, Poll
// runs: small medium large
#include <algorithm>
#include <memory>
#include <string>

#include "load.h"

struct Device {
  std::string serial;
  std::vector<double> calibration;
};

class Registry {
 public:
  void RegisterDevice(std::uint64_t id, std::size_t points) {
    auto device = std::make_unique<Device>();
    device->serial = "serial number " + std::to_string(id);
    device->calibration.assign(points, 1.0);
    devices_.push_back(std::move(device));
  }
  std::size_t size() const { return devices_.size(); }

 private:
  std::vector<std::unique_ptr<Device>> devices_;
};

Registry& TheRegistry() {
  static Registry registry;
  return registry;
}

std::string Poll(load::Random& random) { return std::string(random.Between(16, 500), 'v'); }

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 35, load::End::kTearsDown);
  const auto base = load::BaseData(run.Pick(1.0, 6.0, 30.0));
  load::Random random(631);
  load::Arrivals polls(run, 632);
  const auto devices = run.Pick<std::size_t>(60, 500, 4000);
  while (run.Next()) {
    const auto seen =
        static_cast<std::size_t>(static_cast<double>(devices) * std::min(1.0, run.Done() / 0.4));
    while (TheRegistry().size() < seen) {
      TheRegistry().RegisterDevice(random(), run.Pick(10, 80, 400));
    }
    for (unsigned n = polls.Due(run.Pick(200.0, 1000.0, 20000.0)); n > 0; --n) Poll(random);
  }
}
