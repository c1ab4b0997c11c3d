// Four threads, each on its own random walk over 4 places, pass blocks on to the next thread, so
// that frees and allocations of one place meet in several threads. The live blocks at the end and
// the totals don't depend on the order; the peak does, so it is left open.
//
// ANSWER
// TRACKER dropped_events=0
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr int kThreads = 4, kPlaces = 4, kMailbox = 512, kEvents = 60000;

struct Row {
  std::atomic<long> live_bytes, live_blocks, total_bytes, total_blocks;
};
Row rows[kPlaces];

// A block knows its size and place, whichever thread frees it.
struct Block {
  uint32_t size;
  int place;
};
std::atomic<Block*> mailbox[kThreads][kMailbox];

}  // namespace

extern "C" {
__attribute__((noinline)) void* place0(size_t n) { return malloc(n); }
__attribute__((noinline)) void* place1(size_t n) { return calloc(1, n); }
__attribute__((noinline)) void* place2(size_t n) { return ::operator new(n); }
__attribute__((noinline)) void* place3(size_t n) { return aligned_alloc(64, n); }
}

namespace {

void Release(Block* block) {
  rows[block->place].live_bytes -= block->size;
  rows[block->place].live_blocks -= 1;
  if (block->place == 2) {
    ::operator delete(block);
  } else {
    free(block);
  }
}

void* Walk(void* argument) {
  const long id = reinterpret_cast<long>(argument);
  uint64_t state = 77u + static_cast<uint64_t>(id);
  auto random = [&state] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(state >> 33);
  };
  for (int event = 0; event < kEvents; ++event) {
    const int place = static_cast<int>(random() % kPlaces);
    const uint32_t size = (random() % 40 + 1) * 64;
    void* (*const places[])(size_t) = {place0, place1, place2, place3};
    auto* block = static_cast<Block*>(places[place](size));
    *block = {size, place};
    rows[place].live_bytes += size;
    rows[place].live_blocks += 1;
    rows[place].total_bytes += size;
    rows[place].total_blocks += 1;
    // To a neighbour's mailbox; what lay there is freed by this thread.
    auto& slot = mailbox[(id + random() % 2) % kThreads][random() % kMailbox];
    if (Block* old = slot.exchange(block)) Release(old);
  }
  return nullptr;
}

int WriteAnswer(const char* path) {
  const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd < 0) return 1;
  for (int p = 0; p < kPlaces; ++p) {
    char line[300];
    const int n = snprintf(line, sizeof line,
                           "SITE function=place%d peak=? leaked=%ld/%ld total=%ld/%ld\n", p,
                           rows[p].live_bytes.load(), rows[p].live_blocks.load(),
                           rows[p].total_bytes.load(), rows[p].total_blocks.load());
    if (write(fd, line, static_cast<size_t>(n)) != n) return 2;
  }
  return close(fd);
}

}  // namespace

int main() {
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; ++i) {
    if (pthread_create(&threads[i], nullptr, Walk, reinterpret_cast<void*>(i)) != 0) return 1;
  }
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
  const char* path = getenv("KNOWN_ANSWER");
  return path == nullptr ? 0 : WriteAnswer(path);
}
