// A data access layer that caches prepared statements by their text. Most texts have placeholders;
// one query is put together with its literal, so each use of it makes another statement.
//
// shape: cache without limit whose keys never end
// leaks: FindByEmail
// harmless: FindById, BindRow
// runs: medium large
#include <map>
#include <memory>
#include <string>

#include "load.h"

struct Statement {
  std::string text;
  std::vector<std::uint16_t> program;
};

class Connection {
 public:
  Statement& Prepare(const std::string& text) {
    auto& statement = statements_[text];
    if (statement == nullptr) {
      statement = std::make_unique<Statement>();
      statement->text = text;
      statement->program.assign(text.size(), 1);
    }
    return *statement;
  }

 private:
  std::map<std::string, std::unique_ptr<Statement>> statements_;
};

std::string BindRow(load::Random& random) { return std::string(random.Between(20, 700), 'b'); }

std::size_t FindById(Connection& connection, load::Random& random) {
  const std::string text = "SELECT name, street, city FROM customers_" +
                           std::to_string(random.Below(60)) + " WHERE id = ?";
  return connection.Prepare(text).program.size();
}

std::size_t FindByEmail(Connection& connection, load::Random& random) {
  const std::string text = "SELECT id FROM customers WHERE email = 'customer" +
                           std::to_string(random()) + "@example.org'";
  return connection.Prepare(text).program.size();
}

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 34);
  const auto base = load::BaseData(run.Pick(1.0, 3.0, 25.0));
  Connection connection;
  load::Random random(321);
  load::Arrivals queries(run, 322);
  std::size_t sum = 0;
  while (run.Next()) {
    for (unsigned n = queries.Due(run.Pick(100.0, 800.0, 10000.0)); n > 0; --n) {
      sum += FindById(connection, random) + BindRow(random).size();
      if (random.Chance(run.Pick(0.01, 0.03, 0.2))) sum += FindByEmail(connection, random);
    }
  }
  return sum == 1;
}
