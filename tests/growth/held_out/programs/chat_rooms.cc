// A chat server. Each of its rooms keeps its history without limit, and who joins gets the last few
// messages of it, copied.
//
// shape: history kept without limit, in many containers
// leaks: Say
// harmless: Join
// runs: small medium large
#include <algorithm>
#include <deque>
#include <string>

#include "load.h"

struct Message {
  std::uint64_t author;
  std::string text;
};

class Room {
 public:
  void Say(std::uint64_t author, std::size_t length) {
    history_.push_back({author, std::string(length, 'm')});
  }
  std::vector<Message> Join(std::size_t most) const {
    const std::size_t n = std::min(history_.size(), most);
    return {history_.end() - n, history_.end()};
  }

 private:
  std::deque<Message> history_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 42, load::End::kTearsDown);
  const auto base = load::BaseData(run.Pick(1.0, 2.0, 50.0));
  std::vector<Room> rooms(run.Pick(3, 60, 1000));
  std::vector<std::vector<Message>> joined(40);
  load::Random random(201);
  load::Arrivals messages(run, 202);
  load::Arrivals joins(run, 203);
  while (run.Next()) {
    for (unsigned n = messages.Due(run.Pick(2.0, 60.0, 4000.0) * run.Daylight(4, 0.2)); n > 0;
         --n) {
      rooms[random.Below(rooms.size())].Say(random(), random.Between(2, 250));
    }
    for (unsigned n = joins.Due(20); n > 0; --n) {
      joined[random.Below(joined.size())] =
          rooms[random.Below(rooms.size())].Join(run.Pick(3, 5, 10));
    }
  }
}
