// A home server whose history is trimmed by a cron job: every eleven seconds, all but the newest
// tenth goes. There are only four trims in the whole run.
//
// shape: saw-tooth with few and long teeth
// leaks: none
// harmless: AppendState, PushUpdate
// runs: small medium large
#include <list>
#include <memory>
#include <string>

#include "load.h"

struct State {
  std::string entity;
  std::string attributes;
};

class Recorder {
 public:
  void AppendState(load::Random& random) {
    states_.push_back(std::make_unique<State>(
        State{"sensor.living_room_temperature_" + std::to_string(random.Below(40)),
              std::string(random.Between(30, 400), 'a')}));
  }
  void Trim() {
    const std::size_t keep = states_.size() / 10;
    while (states_.size() > keep) states_.pop_front();
  }

 private:
  std::list<std::unique_ptr<State>> states_;
};

std::string PushUpdate(load::Random& random) { return std::string(random.Between(100, 900), 'u'); }

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 48);
  const auto base = load::BaseData(run.Pick(1.0, 5.0, 30.0));
  Recorder recorder;
  load::Random random(721);
  load::Arrivals states(run, 722);
  double trimmed = 0;
  while (run.Next()) {
    for (unsigned n = states.Due(run.Pick(10.0, 400.0, 10000.0)); n > 0; --n) {
      recorder.AppendState(random);
      PushUpdate(random);
    }
    if (run.Seconds() - trimmed > 11) {
      trimmed = run.Seconds();
      recorder.Trim();
    }
  }
}
