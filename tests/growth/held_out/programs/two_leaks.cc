// A database front end with two leaks: query plans are kept for statistics, and cursors of aborted
// transactions are forgotten. The first one is a hundred times larger.
//
// shape: two leaks in one program, one far larger than the other
// leaks: KeepPlan, OpenCursor
// harmless: FetchRows
// runs: medium large
#include <memory>
#include <string>

#include "load.h"

struct Plan {
  std::string sql;
  std::vector<double> costs;
};

struct Cursor {
  std::uint64_t transaction;
  std::uint64_t position;
  char state[48];
};

class Database {
 public:
  void KeepPlan(load::Random& random) {
    auto plan = std::make_unique<Plan>();
    plan->sql.assign(random.Between(80, 500), 'q');
    plan->costs.assign(random.Between(5, 50), 1.0);
    plans_.push_back(std::move(plan));
  }
  Cursor* OpenCursor(load::Random& random) { return new Cursor{random(), 0, {}}; }
  void FetchRows(load::Random& random) {
    rows_ = std::vector<std::string>(random.Between(1, 50), std::string(40, 'r'));
  }

 private:
  std::vector<std::unique_ptr<Plan>> plans_;
  std::vector<std::string> rows_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 40, load::End::kTearsDown);
  const auto base = load::BaseData(run.Pick(1.0, 12.0, 100.0));
  Database database;
  load::Random random(291);
  load::Arrivals queries(run, 292);
  while (run.Next()) {
    for (unsigned n = queries.Due(run.Pick(40.0, 300.0, 5000.0)); n > 0; --n) {
      if (random.Below(5) == 0) database.KeepPlan(random);
      Cursor* cursor = database.OpenCursor(random);
      database.FetchRows(random);
      cursor->position = 1;
      if (random.Below(40) != 0) delete cursor;
    }
  }
}
