// An upload service. Uploads come in bursts, faster than the scanner can work; between bursts its
// queue drains.
//
// shape: queue under bursts that drains each time
// leaks: none
// harmless: Enqueue, Scan
// runs: small medium large
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <queue>
#include <string>

#include "load.h"

class Scanner {
 public:
  void Enqueue(std::string upload) {
    const std::lock_guard lock(mutex_);
    uploads_.push(std::move(upload));
  }
  bool Scan() {
    std::string upload;
    {
      const std::lock_guard lock(mutex_);
      if (uploads_.empty()) return false;
      upload = std::move(uploads_.front());
      uploads_.pop();
    }
    const std::vector<std::uint32_t> signature(upload.size() / 16 + 1, 1);
    return signature.size() > 1;
  }

 private:
  std::mutex mutex_;
  std::queue<std::string> uploads_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 44);
  const auto base = load::BaseData(run.Pick(1.0, 6.0, 40.0));
  Scanner scanner;
  const double rate = run.Pick(100.0, 1000.0, 10000.0);
  std::thread worker([&] {
    load::Arrivals scans(run, 661);
    while (run.Next()) {
      for (unsigned n = scans.Due(rate); n > 0; --n) scanner.Scan();
    }
  });
  load::Random random(662);
  load::Arrivals uploads(run, 663);
  double burst_ends = 0;
  double next_burst = 1;
  while (run.Next()) {
    const double now = run.Seconds();
    if (now > next_burst) {
      burst_ends = now + 0.3 + 0.9 * random.Uniform();
      next_burst = now + 3 + 4 * random.Uniform();
    }
    for (unsigned n = uploads.Due(now < burst_ends ? rate * 3 : rate * 0.3); n > 0; --n) {
      scanner.Enqueue(std::string(random.Between(30, 1500), 'u'));
    }
  }
  worker.join();
}
