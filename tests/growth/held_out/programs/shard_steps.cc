// A storage node that takes over shards of nodes that retire: at a tenth, a quarter and four tenths
// of the run. Each shard brings its index; then the cluster is complete.
//
// shape: steps that end
// leaks: none
// harmless: LoadShard, ReadBlock
// runs: small medium large
#include <map>
#include <string>

#include "load.h"

class Node {
 public:
  void LoadShard(load::Random& random, int keys) {
    for (int i = 0; i < keys; ++i)
      index_[random()] = "segment/" + std::to_string(random.Below(1'000'000'000));
    ++shards_;
  }
  std::string ReadBlock(load::Random& random) const {
    return std::string(random.Between(512, 8192), 'b');
  }
  int shards() const { return shards_; }

 private:
  int shards_ = 0;
  std::map<std::uint64_t, std::string> index_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 40);
  const auto base = load::BaseData(run.Pick(1.0, 4.0, 20.0));
  Node node;
  load::Random random(1051);
  load::Arrivals reads(run, 1052);
  const double due[] = {0.0, 0.1, 0.25, 0.4};
  std::size_t sum = 0;
  while (run.Next()) {
    if (node.shards() < 4 && run.Done() >= due[node.shards()]) {
      node.LoadShard(random, run.Pick(40, 1500, 80000));
    }
    for (unsigned n = reads.Due(run.Pick(100.0, 1000.0, 20000.0)); n > 0; --n) {
      sum += node.ReadBlock(random).size();
    }
  }
  return sum == 1;
}
