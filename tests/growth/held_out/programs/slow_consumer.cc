// A log shipper with two threads: one reads lines into a queue, one sends them. Sending is a little
// slower than reading, so the queue gets longer for ever, although every line is freed in the end.
//
// shape: a queue whose consumer is slower than its producer
// leaks: Enqueue
// harmless: Send
// runs: small medium large
#include <atomic>
#include <deque>
#include <mutex>
#include <string>

#include "load.h"

class Shipper {
 public:
  void Enqueue(load::Random& random) {
    std::string line(random.Between(40, 300), 'l');
    const std::lock_guard lock(mutex_);
    lines_.push_back(std::move(line));
  }
  std::size_t Send() {
    std::string line;
    {
      const std::lock_guard lock(mutex_);
      if (lines_.empty()) return 0;
      line = std::move(lines_.front());
      lines_.pop_front();
    }
    const std::string packet = "<14>" + line + std::string(64, ' ');
    return packet.size();
  }

 private:
  std::mutex mutex_;
  std::deque<std::string> lines_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 36);
  const auto base = load::BaseData(run.Pick(1.0, 8.0, 60.0));
  Shipper shipper;
  const double rate = run.Pick(100.0, 2000.0, 60000.0);
  const double slower = run.Pick(0.97, 0.96, 0.9);
  std::atomic<std::size_t> sent = 0;
  std::thread sender([&] {
    load::Arrivals due(run, 191);
    while (run.Next()) {
      for (unsigned n = due.Due(rate * slower); n > 0; --n) sent += shipper.Send();
    }
  });
  load::Random random(192);
  load::Arrivals lines(run, 193);
  while (run.Next()) {
    for (unsigned n = lines.Due(rate); n > 0; --n) shipper.Enqueue(random);
  }
  sender.join();
  return sent == 1;
}
