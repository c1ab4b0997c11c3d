// A stream processor of eight partitions with one queue each. The consumer of one of them is stuck
// since a third of the run; the others drain theirs. All queues are filled by the same lines.
//
// shape: leak in one of several queues, at the place and with the stack of the healthy ones
// leaks: Append
// harmless: Consume
// runs: small medium large
#include <deque>
#include <memory>
#include <string>

#include "load.h"

struct Record {
  std::uint64_t key;
  std::string value;
};

class Partition {
 public:
  void Append(std::uint64_t key, std::size_t bytes) {
    records_.push_back(std::make_unique<Record>(Record{key, std::string(bytes, 'v')}));
  }
  std::size_t Consume() {
    std::size_t bytes = 0;
    while (!records_.empty()) {
      const std::vector<char> copy(records_.front()->value.begin(), records_.front()->value.end());
      bytes += copy.size();
      records_.pop_front();
    }
    return bytes;
  }

 private:
  std::deque<std::unique_ptr<Record>> records_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 46, load::End::kTearsDown);
  const auto base = load::BaseData(run.Pick(1.0, 5.0, 40.0));
  std::vector<Partition> partitions(8);
  load::Random random(931);
  load::Arrivals records(run, 932);
  load::Arrivals rounds(run, 933);
  std::size_t sum = 0;
  while (run.Next()) {
    for (unsigned n = records.Due(run.Pick(24.0, 300.0, 15000.0)); n > 0; --n) {
      const std::uint64_t key = random();
      partitions[key % 8].Append(key, random.Between(20, 300));
    }
    for (unsigned n = rounds.Due(8); n > 0; --n) {
      const std::size_t i = random.Below(8);
      if (i != 5 || run.Done() < 0.33) sum += partitions[i].Consume();
    }
  }
  return sum == 1;
}
