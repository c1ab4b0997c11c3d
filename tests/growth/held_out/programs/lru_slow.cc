// A tile server. Its LRU cache of rendered tiles has a fixed number of entries, which fill for more
// than the first half of the week; then each new tile evicts one.
//
// shape: LRU cache that fills slowly, then evicts
// leaks: none
// harmless: InsertTile, RenderTile
// runs: small medium large
#include <list>
#include <string>
#include <unordered_map>

#include "load.h"

struct Tile {
  std::uint64_t id;
  std::string png;
};

class TileCache {
 public:
  explicit TileCache(std::size_t most) : most_(most) {}
  bool Find(std::uint64_t id) {
    const auto found = by_id_.find(id);
    if (found == by_id_.end()) return false;
    tiles_.splice(tiles_.begin(), tiles_, found->second);
    return true;
  }
  void InsertTile(std::uint64_t id, const std::string& png) {
    tiles_.push_front({id, png});
    by_id_[id] = tiles_.begin();
    if (tiles_.size() <= most_) return;
    by_id_.erase(tiles_.back().id);
    tiles_.pop_back();
  }

 private:
  std::size_t most_;
  std::list<Tile> tiles_;
  std::unordered_map<std::uint64_t, std::list<Tile>::iterator> by_id_;
};

std::string RenderTile(load::Random& random, std::uint64_t mean) {
  return std::string(random.Between(mean / 2, mean * 3 / 2), 'p');
}

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 45, load::End::kTearsDown);
  const auto base = load::BaseData(run.Pick(1.0, 5.0, 20.0));
  const double rate = run.Pick(20.0, 200.0, 2000.0);
  TileCache cache(static_cast<std::size_t>(rate * run.Length() * 0.55));
  load::Random random(501);
  load::Arrivals requests(run, 502);
  while (run.Next()) {
    for (unsigned n = requests.Due(rate); n > 0; --n) {
      const std::uint64_t id = random();
      if (!cache.Find(id)) cache.InsertTile(id, RenderTile(random, run.Pick(60, 1000, 2000)));
    }
  }
}
