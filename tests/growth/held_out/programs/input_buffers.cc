// A server with a fixed number of connections, whose input buffers grow to the largest message that
// each has ever got: ever fewer of them grow, and by ever less.
//
// shape: many buffers that each grow to their own high-water mark
// leaks: none
// harmless: GrowInput, Reply
// runs: small medium large
#include <algorithm>

#include "load.h"

namespace {

struct Connection {
  char* input;
  std::size_t room;
};

void GrowInput(Connection& connection, std::size_t bytes) {
  connection.room = (bytes + 63) / 64 * 64;
  connection.input = static_cast<char*>(std::realloc(connection.input, connection.room));
}

void Reply(load::Random& random) {
  const std::size_t bytes = random.Between(20, 5000);
  auto* reply = static_cast<char*>(std::malloc(bytes));
  std::memset(reply, 'r', bytes);
  std::free(reply);
}

void Receive(Connection& connection, std::size_t bytes) {
  if (connection.room < bytes) GrowInput(connection, bytes);
  std::memset(connection.input, 'i', bytes);
}

}  // namespace

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 42);
  const auto base = load::BaseData(run.Pick(1.0, 5.0, 20.0));
  std::vector<Connection> connections(run.Pick(10, 150, 3000));
  load::Random random(741);
  load::Arrivals messages(run, 742);
  const std::size_t most = run.Pick(1500, 8000, 16000);
  while (run.Next()) {
    for (unsigned n = messages.Due(static_cast<double>(connections.size())); n > 0; --n) {
      const double bytes = std::min(random.Exponential(300), 1.0 * most);
      Receive(connections[random.Below(connections.size())], 1 + static_cast<std::size_t>(bytes));
      Reply(random);
    }
  }
}
