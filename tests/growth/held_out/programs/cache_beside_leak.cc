// A content server. Two lists get entries from one function at about the same rate: the cache,
// which is full at half time and then drops one for each new one, and the list of "hot" entries,
// which is never cut.
//
// shape: cache that fills slowly and a leak of about the same speed, through one factory
// leaks: MarkHot
// harmless: CacheEntry
// runs: small medium large
#include <deque>
#include <memory>
#include <string>

#include "load.h"

struct Entry {
  std::string path;
  std::string content;
};

std::unique_ptr<Entry> NewEntry(load::Random& random) {
  auto entry = std::make_unique<Entry>();
  entry->path = "/static/assets/" + std::to_string(random());
  entry->content.assign(random.Between(20, 400), 'c');
  return entry;
}

class Content {
 public:
  explicit Content(std::size_t most) : most_(most) {}
  void CacheEntry(load::Random& random) {
    cache_.push_back(NewEntry(random));
    if (cache_.size() > most_) cache_.pop_front();
  }
  void MarkHot(load::Random& random) { hot_.push_back(NewEntry(random)); }

 private:
  std::size_t most_;
  std::deque<std::unique_ptr<Entry>> cache_;
  std::deque<std::unique_ptr<Entry>> hot_;
};

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 46, load::End::kTearsDown);
  const auto base = load::BaseData(run.Pick(1.0, 3.0, 15.0));
  const double rate = run.Pick(2.0, 40.0, 3000.0);
  Content content(static_cast<std::size_t>(rate * run.Length() * 0.5));
  load::Random random(961);
  load::Arrivals cached(run, 962);
  load::Arrivals hot(run, 963);
  while (run.Next()) {
    for (unsigned n = cached.Due(rate); n > 0; --n) content.CacheEntry(random);
    for (unsigned n = hot.Due(rate); n > 0; --n) content.MarkHot(random);
  }
}
