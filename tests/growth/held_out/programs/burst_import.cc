// A price importer. Every few seconds a supplier's file arrives and is read row by row; rows are
// dropped at its end, but the lookup index of the file is only ever replaced in a pointer, never
// deleted.
//
// shape: leak in bursts, beside a saw-tooth
// leaks: BuildIndex
// harmless: ReadRow
// runs: small medium large
#include <map>
#include <string>

#include "load.h"

struct Row {
  std::string article;
  double price;
};

using Index = std::map<std::string, double>;

class Importer {
 public:
  void Import(load::Random& random, int rows) {
    std::vector<Row> file;
    for (int i = 0; i < rows; ++i) file.push_back(ReadRow(random));
    index_ = BuildIndex(file, rows / 20 + 1);
  }
  std::size_t Articles() const { return index_ == nullptr ? 0 : index_->size(); }

 private:
  static Row ReadRow(load::Random& random) {
    return {"article-number-" + std::to_string(random()), random.Uniform() * 100};
  }

  static Index* BuildIndex(const std::vector<Row>& file, int entries) {
    auto* index = new Index;
    for (int i = 0; i < entries; ++i) (*index)[file[i].article] = file[i].price;
    return index;
  }

  Index* index_ = nullptr;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 48);
  const auto base = load::BaseData(run.Pick(2.0, 10.0, 100.0));
  Importer importer;
  load::Random random(31);
  load::Arrivals files(run, 32);
  const int rows = run.Pick(200, 3000, 200000);
  const double per_second = run.Pick(0.6, 0.3, 0.5);
  while (run.Next()) {
    for (unsigned n = files.Due(per_second); n > 0; --n) importer.Import(random, rows);
  }
  return importer.Articles() == 1;
}
