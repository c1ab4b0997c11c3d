// A log-structured store: writes go to a memtable, which is flushed to a run when it is full; small
// runs are merged to larger ones, and the largest level drops what is older than its limit.
//
// shape: saw-tooth upon saw-tooths (flush and compaction)
// leaks: none
// harmless: PutRow, FlushTable, MergeRuns
// runs: small medium large
#include <map>
#include <memory>
#include <string>

#include "load.h"

using Run = std::vector<std::pair<std::uint64_t, std::string>>;

class Store {
 public:
  explicit Store(std::size_t most) : most_(most) {}
  void PutRow(std::uint64_t key, std::size_t bytes) {
    table_[key] = std::string(bytes, 'v');
    if (table_.size() >= most_) FlushTable();
  }

 private:
  void FlushTable() {
    auto run = std::make_unique<Run>();
    for (const auto& row : table_) run->push_back(row);
    table_.clear();
    runs_.push_back(std::move(run));
    if (runs_.size() == 6) MergeRuns();
  }
  void MergeRuns() {
    auto merged = std::make_unique<Run>();
    for (const auto& run : runs_) merged->insert(merged->end(), run->begin(), run->end());
    if (merged->size() > 2 * most_) merged->resize(2 * most_);
    merged->shrink_to_fit();
    runs_.clear();
    runs_.push_back(std::move(merged));
  }

  std::size_t most_;
  std::map<std::uint64_t, std::string> table_;
  std::vector<std::unique_ptr<Run>> runs_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 50, load::End::kTearsDown);
  const auto base = load::BaseData(run.Pick(1.0, 5.0, 20.0));
  Store store(run.Pick(40, 1000, 30000));
  load::Random random(711);
  load::Arrivals writes(run, 712);
  while (run.Next()) {
    for (unsigned n = writes.Due(run.Pick(50.0, 1200.0, 30000.0)); n > 0; --n) {
      store.PutRow(random(), random.Between(20, 250));
    }
  }
}
