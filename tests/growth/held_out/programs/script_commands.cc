// A game server whose scripts each keep a little of what they do: 200 commands, each of which
// pushes the players that used it to a list of its own. No place is large; together they are.
//
// shape: 200 small sites that leak together
// leaks: Command
// harmless: MovePlayer
// runs: medium large
#include <forward_list>
#include <string>
#include <utility>

#include "load.h"

struct Used {
  std::uint64_t player;
  std::uint64_t at;
};

template <int N>
void Command(std::uint64_t player, std::uint64_t at) {
  static std::forward_list<Used> users;
  users.push_front({player, at});
}

template <int... N>
auto Commands(std::integer_sequence<int, N...>) {
  return std::vector<void (*)(std::uint64_t, std::uint64_t)>{&Command<N>...};
}

class World {
 public:
  void MovePlayer(load::Random& random) {
    paths_[random.Below(paths_.size())] = std::string(random.Between(20, 300), 'p');
  }

 private:
  std::vector<std::string> paths_ = std::vector<std::string>(1000);
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 36);
  const auto base = load::BaseData(run.Pick(1.0, 4.0, 40.0));
  World world;
  const auto commands = Commands(std::make_integer_sequence<int, 200>());
  load::Random random(131);
  load::Arrivals moves(run, 132);
  load::Arrivals used(run, 133);
  while (run.Next()) {
    for (unsigned n = moves.Due(2000); n > 0; --n) world.MovePlayer(random);
    for (unsigned n = used.Due(run.Pick(50.0, 600.0, 20000.0)); n > 0; --n) {
      commands[random.Below(commands.size())](random(), n);
    }
  }
}
