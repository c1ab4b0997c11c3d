// A daemon with an in-memory log of four files: a new one begins every five seconds, and the oldest
// of four goes.
//
// shape: periodic rotation
// leaks: none
// harmless: WriteLine, RotateLog
// runs: small medium large
#include <deque>
#include <string>

#include "load.h"

class Log {
 public:
  void RotateLog() {
    files_.emplace_back();
    if (files_.size() > 4) files_.pop_front();
  }
  void WriteLine(load::Random& random) {
    files_.back().push_back("2026-11-23T14:44:27Z worker[" + std::to_string(random.Below(99)) +
                            "] " + std::string(random.Between(10, 90), 'l'));
  }

 private:
  std::deque<std::vector<std::string>> files_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 52, load::End::kTearsDown);
  const auto base = load::BaseData(run.Pick(1.0, 4.0, 30.0));
  Log log;
  load::Random random(581);
  load::Arrivals lines(run, 582);
  double next = 0;
  while (run.Next()) {
    if (run.Seconds() >= next) {
      next += 5;
      log.RotateLog();
    }
    for (unsigned n = lines.Due(run.Pick(20.0, 500.0, 20000.0)); n > 0; --n) log.WriteLine(random);
  }
}
