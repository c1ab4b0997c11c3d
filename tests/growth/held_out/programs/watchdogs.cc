// A device manager that starts a watchdog thread per device that connects. Devices that vanish are
// never told apart from silent ones, so their threads wait for ever, with the state that they own.
//
// shape: leaking threads
// leaks: WatchDevice
// either: StartWatchdog, [runtime, kept by design]
// harmless: Report
// runs: small medium
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include "load.h"

class Manager {
 public:
  explicit Manager(std::size_t window) : window_(window) {}

  void StartWatchdog(std::uint64_t device, bool vanishes) {
    std::thread([this, device, vanishes] { WatchDevice(device, vanishes); }).detach();
  }

  // The state of a device that reports: the newest of a fixed number.
  void Report(load::Random& random) {
    reports_[random.Below(reports_.size())] = std::string(random.Between(50, 400), 'r');
  }

 private:
  void WatchDevice(std::uint64_t device, bool vanishes) {
    auto samples = std::make_unique<std::vector<std::uint64_t>>(window_, device);
    std::unique_lock lock(mutex_);
    if (vanishes) {
      never_.wait(lock, [] { return false; });
    } else {
      never_.wait_for(lock, std::chrono::milliseconds(300), [] { return false; });
    }
    (*samples)[0] = 0;
  }

  std::size_t window_;
  std::mutex mutex_;
  std::condition_variable never_;
  std::vector<std::string> reports_ = std::vector<std::string>(300);
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 40);
  const auto base = load::BaseData(run.Pick(1.0, 8.0, 40.0));
  auto* manager = new Manager(run.Pick(20, 500, 500));
  load::Random random(141);
  load::Arrivals devices(run, 142);
  load::Arrivals reports(run, 143);
  while (run.Next()) {
    for (unsigned n = devices.Due(10); n > 0; --n) {
      manager->StartWatchdog(random(), random.Chance(run.Pick(0.15, 0.3, 0.3)));
    }
    for (unsigned n = reports.Due(1000); n > 0; --n) manager->Report(random);
  }
  std::_Exit(0);
}
