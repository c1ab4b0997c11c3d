// A build cache keyed by the hash of a file. The project has a fixed number of files, each of which
// is asked for now and then; its hash table rehashes while it fills, and is full after a third of
// the run.
//
// shape: table that rehashes up to its final size
// leaks: none
// harmless: Lookup, HashFile
// runs: small medium large
#include <string>
#include <unordered_map>

#include "load.h"

struct Entry {
  std::uint64_t hash;
  std::string object;
};

class Cache {
 public:
  const Entry& Lookup(std::uint64_t file) {
    Entry& entry = entries_[file];
    if (entry.object.empty()) {
      entry.hash = HashFile(file);
      entry.object = "objects/" + std::to_string(entry.hash) + ".o";
    }
    return entry;
  }

 private:
  static std::uint64_t HashFile(std::uint64_t file) {
    const std::vector<std::uint64_t> block(512, file);
    return block.back() * 0x9e3779b97f4a7c15u;
  }

  std::unordered_map<std::uint64_t, Entry> entries_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 40);
  const auto base = load::BaseData(run.Pick(1.0, 4.0, 30.0));
  Cache cache;
  load::Random random(621);
  load::Arrivals lookups(run, 622);
  const auto files = run.Pick<std::uint64_t>(150, 4000, 150000);
  std::size_t sum = 0;
  while (run.Next()) {
    // Each file some eight times.
    const double rate = static_cast<double>(files) * 8 / run.Length();
    for (unsigned n = lookups.Due(rate); n > 0; --n) {
      sum += cache.Lookup(random.Below(files) * 7919).object.size();
    }
  }
  return sum == 1;
}
