// A database whose weekly backup begins when nine tenths of the run are over, and still holds its
// copy of the catalog at the end. Nothing else changes.
//
// shape: one-time rise shortly before the end
// leaks: none
// harmless: CopyCatalog, RunStatement
// runs: small medium large
#include <memory>
#include <string>

#include "load.h"

struct Table {
  std::string name;
  std::vector<std::uint64_t> pages;
};

void CopyCatalog(std::vector<std::unique_ptr<Table>>& copy, std::size_t pages) {
  copy.push_back(std::make_unique<Table>(
      Table{"table " + std::to_string(copy.size()), std::vector<std::uint64_t>(pages, 1)}));
}

std::string RunStatement(load::Random& random) {
  return std::string(random.Between(10, 4000), 's');
}

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 36);
  const auto base = load::BaseData(run.Pick(1.0, 10.0, 100.0));
  std::vector<std::unique_ptr<Table>> copy;
  std::vector<std::string> results(50);
  load::Random random(821);
  load::Arrivals statements(run, 822);
  while (run.Next()) {
    for (unsigned n = statements.Due(run.Pick(100.0, 1000.0, 20000.0)); n > 0; --n) {
      results[random.Below(results.size())] = RunStatement(random);
    }
    if (run.Done() > 0.9 && copy.size() < 100) CopyCatalog(copy, run.Pick(10, 300, 40000));
  }
}
