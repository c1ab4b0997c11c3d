// A game lobby. Players come and go at the same rate, and stay for some time; how many there are is
// a random walk around a mean.
//
// shape: connection churn, a random walk
// leaks: none
// harmless: Enter, Greet
// runs: small medium large
#include <map>
#include <memory>
#include <string>

#include "load.h"

struct Player {
  std::string name;
  std::vector<std::uint64_t> friends;
  std::unique_ptr<char[]> socket_buffer;
};

class Lobby {
 public:
  void Enter(load::Random& random, double leaves) {
    auto player = std::make_unique<Player>();
    player->name = "player with the number " + std::to_string(random());
    player->friends.resize(random.Between(0, 60));
    player->socket_buffer = std::make_unique<char[]>(512);
    players_.emplace(leaves, std::move(player));
  }
  void Leave(double now) {
    while (!players_.empty() && players_.begin()->first < now) players_.erase(players_.begin());
  }
  std::string Greet() const {
    return "There are " + std::to_string(players_.size()) + " players here.";
  }

 private:
  std::multimap<double, std::unique_ptr<Player>> players_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 45);
  const auto base = load::BaseData(run.Pick(1.0, 5.0, 50.0));
  Lobby lobby;
  load::Random random(541);
  load::Arrivals players(run, 542);
  while (run.Next()) {
    const double now = run.Seconds();
    for (unsigned n = players.Due(run.Pick(20.0, 150.0, 5000.0)); n > 0; --n) {
      lobby.Enter(random, now + random.Exponential(3));
      lobby.Greet();
    }
    lobby.Leave(now);
  }
}
