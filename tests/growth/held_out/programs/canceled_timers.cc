// A timer wheel. Timers that fire are freed; a timer that is canceled is only marked, and since the
// slots of far timers are never visited again, it stays.
//
// shape: leak of what is canceled, beside timers that live for a while
// leaks: CancelableTimer
// harmless: PlainTimer
// runs: small medium large
#include <functional>
#include <list>
#include <memory>

#include "load.h"

struct Timer {
  double due;
  bool canceled;
  std::function<void()> action;
};

class Wheel {
 public:
  using Slot = std::list<std::unique_ptr<Timer>>;

  std::unique_ptr<Timer> MakeTimer(double due, std::uint64_t connection) {
    const std::uint64_t ids[4] = {connection, 1, 2, 3};
    return std::make_unique<Timer>(Timer{due, false, [this, ids] { fired_ += ids[0] != 0; }});
  }
  void PlainTimer(double due, std::uint64_t connection) {
    near_.push_back(MakeTimer(due, connection));
  }
  void CancelableTimer(double due, std::uint64_t connection) {
    far_.push_back(MakeTimer(due, connection));
    far_.back()->canceled = true;
  }
  void Turn(double now) {
    for (auto i = near_.begin(); i != near_.end();) {
      if ((*i)->due > now) {
        ++i;
        continue;
      }
      (*i)->action();
      i = near_.erase(i);
    }
  }

 private:
  Slot near_;
  Slot far_;
  std::uint64_t fired_ = 0;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 34);
  const auto base = load::BaseData(run.Pick(1.0, 10.0, 30.0));
  Wheel wheel;
  load::Random random(411);
  load::Arrivals timers(run, 412);
  load::Arrivals canceled(run, 413);
  double turned = 0;
  while (run.Next()) {
    const double now = run.Seconds();
    for (unsigned n = timers.Due(run.Pick(50.0, 500.0, 4000.0)); n > 0; --n) {
      wheel.PlainTimer(now + random.Exponential(2), random());
    }
    for (unsigned n = canceled.Due(run.Pick(3.0, 80.0, 5000.0)); n > 0; --n) {
      wheel.CancelableTimer(now + 3600, random());
    }
    if (now - turned > 0.05) wheel.Turn(turned = now);
  }
}
