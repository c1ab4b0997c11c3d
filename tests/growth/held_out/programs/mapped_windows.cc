// A file indexer that maps windows of its work area, works in them, and unmaps them: never more
// than a few at a time. What it finds in them is kept in a fixed table.
//
// shape: mapped regions that come and go, none of which stays
// leaks: none
// harmless: MapWindow, KeepHit
// runs: medium large
#include <sys/mman.h>

#include <deque>
#include <string>

#include "load.h"

class Window {
 public:
  explicit Window(std::size_t bytes) : address_(MapWindow(bytes)), bytes_(bytes) {
    std::memset(address_, 'w', bytes);
  }
  ~Window() { munmap(address_, bytes_); }
  Window(const Window&) = delete;

 private:
  static void* MapWindow(std::size_t bytes) {
    void* address =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (address == MAP_FAILED) std::abort();
    return address;
  }

  void* address_;
  std::size_t bytes_;
};

void KeepHit(std::vector<std::string>& hits, load::Random& random) {
  hits[random.Below(hits.size())].assign(random.Between(20, 200), 'h');
}

int main(int argc, char** argv) {
  const load::Run run(argc, argv, 34);
  const auto base = load::BaseData(run.Pick(1.0, 5.0, 20.0));
  std::vector<std::string> hits(run.Pick(50, 500, 5000));
  std::deque<Window> windows;
  load::Random random(771);
  load::Arrivals due(run, 772);
  while (run.Next()) {
    for (unsigned n = due.Due(60); n > 0; --n) {
      windows.emplace_back(random.Between(1, run.Pick(4, 16, 256)) * 4096);
      while (windows.size() > random.Between(4, 12)) windows.pop_front();
      for (int i = 0; i < 30; ++i) KeepHit(hits, random);
    }
  }
}
