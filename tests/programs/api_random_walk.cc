// Random allocations, reallocs and frees in several threads, while scopes begin and end and
// snapshots are taken: for ../e2e/event_log_test.py and ../e2e/api_test.py.
//
// usage: api_random_walk THREADS
#include <memprof/memprof.h>

#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

namespace {

void Walk(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<void*> blocks;
  blocks.reserve(400);
  for (int i = 0; i < 6000; ++i) {
    if (i % 97 == 0) memprof_snapshot("walk");
    memprof::Tracker region("step", i % 2 == 0 ? MEMPROF_THREAD : 0u);
    for (unsigned k = random() % 8; k > 0; --k) {
      const unsigned what = random() % 100;
      if (blocks.size() > 300 || (what < 40 && !blocks.empty())) {
        std::swap(blocks[random() % blocks.size()], blocks.back());
        std::free(blocks.back());
        blocks.pop_back();
      } else if (what < 50 && !blocks.empty()) {
        void*& block = blocks[random() % blocks.size()];
        block = std::realloc(block, random() % 3000 + 1);
      } else {
        blocks.push_back(std::malloc(random() % 2000));
      }
    }
    if (i % 3 == 0) region.End();
  }
  for (void* block : blocks) std::free(block);
}

}  // namespace

int main(int count, char** arguments) {
  const unsigned threads = count > 1 ? static_cast<unsigned>(std::atoi(arguments[1])) : 1;
  if (threads == 1) {
    Walk(1);
    return 0;
  }
  std::vector<std::thread> running;
  for (unsigned t = 0; t < threads; ++t) running.emplace_back(Walk, t);
  for (std::thread& thread : running) thread.join();
  return 0;
}
