// A report generator: each batch reads records into memory until all are there, writes the report,
// and frees them all at once. Batches have different sizes.
//
// shape: saw-tooth of batches of different sizes
// leaks: none
// harmless: ReadRecord, FormatLine
// runs: small medium large
#include <memory>
#include <string>

#include "load.h"

struct Record {
  std::string account;
  double amounts[6];
};

std::unique_ptr<Record> ReadRecord(load::Random& random) {
  return std::make_unique<Record>(Record{"account " + std::to_string(random()), {}});
}

std::string FormatLine(const Record& record) {
  return record.account + std::string(60, '.') + "0.00\n";
}

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 48);
  const auto base = load::BaseData(run.Pick(1.0, 5.0, 20.0));
  load::Random random(551);
  load::Arrivals records(run, 552);
  std::vector<std::unique_ptr<Record>> batch;
  std::size_t written = 0;
  double ends = 3;
  while (run.Next()) {
    for (unsigned n = records.Due(run.Pick(100.0, 2000.0, 50000.0)); n > 0; --n) {
      batch.push_back(ReadRecord(random));
    }
    if (run.Seconds() < ends) continue;
    for (const auto& record : batch) written += FormatLine(*record).size();
    batch.clear();
    ends = run.Seconds() + 2 + 5 * random.Uniform();
  }
  return written == 1;
}
