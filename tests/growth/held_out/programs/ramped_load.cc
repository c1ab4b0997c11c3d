// A game server on the evening of its opening: players come faster and faster until half time, when
// it is full; afterwards, as many come as go.
//
// shape: load that ramps up to half time, then stays
// leaks: none
// harmless: Join, SendWorld
// runs: small medium large
#include <algorithm>
#include <memory>
#include <string>

#include "load.h"

struct Character {
  std::string name;
  std::vector<int> inventory;
  double position[3];
};

class World {
 public:
  void Join(load::Random& random, std::size_t players) {
    auto character = std::make_unique<Character>();
    character->name = "the hero " + std::to_string(random());
    character->inventory.resize(random.Between(0, 100));
    if (characters_.size() < players) {
      characters_.push_back(std::move(character));
    } else {
      characters_[random.Below(characters_.size())] = std::move(character);
    }
  }
  std::vector<double> SendWorld(load::Random& random) const {
    return std::vector<double>(random.Between(10, 3000), 0.5);
  }
  std::size_t Players() const { return characters_.size(); }

 private:
  std::vector<std::unique_ptr<Character>> characters_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 44, load::End::kTearsDown);
  const auto base = load::BaseData(run.Pick(1.0, 6.0, 50.0));
  World world;
  load::Random random(791);
  load::Arrivals joins(run, 792);
  const double most = run.Pick(60.0, 2000.0, 60000.0);
  while (run.Next()) {
    const double ramp = std::min(1.0, run.Done() * 2);
    for (unsigned n = joins.Due(most / 8 * (0.3 + ramp)); n > 0; --n) {
      world.Join(random, 1 + static_cast<std::size_t>(most * ramp * ramp));
      if (n % 8 == 0) world.SendWorld(random);
    }
  }
}
