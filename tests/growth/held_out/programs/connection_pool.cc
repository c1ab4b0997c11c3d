// A web application with a pool of database connections that is never made smaller: it grows
// whenever more queries run at once than ever before, which becomes rarer and rarer.
//
// shape: pool that grows to its high-water mark
// leaks: none
// harmless: OpenConnection, RunQuery
// runs: small medium large
#include <memory>
#include <string>

#include "load.h"

struct Connection {
  explicit Connection(std::size_t buffer) : input(buffer, 0), output(buffer, 0) {}
  std::string input;
  std::string output;
};

class Pool {
 public:
  explicit Pool(std::size_t buffer) : buffer_(buffer) {}
  Connection* Take() {
    if (idle_.empty()) OpenConnection();
    Connection* connection = idle_.back();
    idle_.pop_back();
    return connection;
  }
  void Give(Connection* connection) { idle_.push_back(connection); }

 private:
  void OpenConnection() {
    all_.push_back(std::make_unique<Connection>(buffer_));
    idle_.push_back(all_.back().get());
  }

  std::size_t buffer_;
  std::vector<std::unique_ptr<Connection>> all_;
  std::vector<Connection*> idle_;
};

struct Query {
  double ends;
  Connection* connection;
  std::vector<std::string> rows;
};

Query RunQuery(Connection* connection, load::Random& random, double now) {
  return {now + random.Exponential(0.2), connection,
          std::vector<std::string>(random.Between(1, 30), std::string(50, 'r'))};
}

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 40);
  const auto base = load::BaseData(run.Pick(1.0, 10.0, 60.0));
  Pool pool(run.Pick(500, 4000, 32000));
  load::Random random(531);
  load::Arrivals queries(run, 532);
  std::vector<Query> open;
  while (run.Next()) {
    const double now = run.Seconds();
    for (unsigned n = queries.Due(run.Pick(100.0, 300.0, 1500.0)); n > 0; --n) {
      open.push_back(RunQuery(pool.Take(), random, now));
    }
    for (std::size_t i = 0; i < open.size();) {
      if (open[i].ends > now) {
        ++i;
        continue;
      }
      pool.Give(open[i].connection);
      open[i] = std::move(open.back());
      open.pop_back();
    }
  }
}
