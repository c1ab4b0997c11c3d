// A TCP server. Connections come and go; of one in a hundred the peer vanishes without a word, and
// as there is no timeout, its object stays for ever. Both kinds are made by the same lines.
//
// shape: leak and connection churn at the same place with the same stack
// leaks: AcceptConnection
// harmless: ReadRequest
// runs: small medium large
#include <list>
#include <memory>
#include <string>

#include "load.h"

struct Connection {
  double closes;
  std::string peer;
  std::vector<char> input;
};

class Server {
 public:
  void AcceptConnection(double now, load::Random& random, double lost) {
    auto connection = std::make_unique<Connection>();
    connection->closes = random.Chance(lost) ? 1e9 : now + random.Exponential(1.0);
    connection->peer = "2001:db8::" + std::to_string(random());
    connection->input.resize(random.Between(128, 1024));
    connections_.push_back(std::move(connection));
  }
  std::string ReadRequest(load::Random& random) {
    return std::string(random.Between(20, 2000), 'q');
  }
  void Close(double now) {
    connections_.remove_if([now](const auto& connection) { return connection->closes < now; });
  }

 private:
  std::list<std::unique_ptr<Connection>> connections_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 45);
  const auto base = load::BaseData(run.Pick(1.0, 10.0, 80.0));
  Server server;
  load::Random random(361);
  load::Arrivals connections(run, 362);
  double swept = 0;
  while (run.Next()) {
    for (unsigned n = connections.Due(run.Pick(20.0, 500.0, 5000.0)); n > 0; --n) {
      server.AcceptConnection(run.Seconds(), random, run.Pick(0.02, 0.02, 0.1));
      server.ReadRequest(random);
    }
    if (run.Seconds() - swept > 0.1) {
      swept = run.Seconds();
      server.Close(swept);
    }
  }
}
