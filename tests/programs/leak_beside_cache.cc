// A small service: it slowly forgets its sessions, beside a cache that fills and levels off.
//
//   leak_beside_cache [STEPS [MICROSECONDS]]      default: 1,500 steps of 4,000 µs
//
// Each step leaves one session of 128 bytes (RememberSession), looks up four pages in a cache of
// STEPS * 2 / 5 pages of 4,096 bytes (CachedPage), and renews one of the pages. After the part t of
// the run the cache therefore has 1 − e^(−10 t) of its pages. A request's own memory is freed at
// its end (HandleRequest). With 125,000 µs a step it leaks a kilobyte a second. Each step has a
// fixed time: a machine that is late catches up at once, so that the overall pace is even on a busy
// machine too.
// memprof growth names RememberSession, and no other. Nothing is freed at the end.
#include <time.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

static constexpr std::size_t kPageBytes = 4096;

struct Session {
  Session* before;
  char user[120];
};

static Session* all_sessions = nullptr;
static std::vector<char*> pages;
static std::uint64_t random_state = 88172645463325252;

static std::uint64_t NextRandom() {  // xorshift
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}

static void RememberSession(int number) {
  all_sessions = new Session{all_sessions, {}};
  std::memset(all_sessions->user, number, sizeof all_sessions->user);
}

static char* CachedPage(std::size_t key, bool renew) {
  char*& page = pages[key];
  if (renew) {
    std::free(page);
    page = nullptr;
  }
  if (page == nullptr) {
    page = static_cast<char*>(std::malloc(kPageBytes));
    std::memset(page, 1, kPageBytes);
  }
  return page;
}

static void HandleRequest(int number) {
  std::vector<char> answer(1000 + NextRandom() % 9000);
  for (int i = 0; i < 4; ++i) {
    std::memcpy(answer.data(), CachedPage(NextRandom() % pages.size(), false), 100);
  }
  RememberSession(number);
}

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 1500;
  const int microseconds = argc > 2 ? std::atoi(argv[2]) : 4000;
  pages.resize(static_cast<std::size_t>(steps) * 2 / 5 + 1);
  std::size_t oldest = 0;
  timespec due;
  clock_gettime(CLOCK_MONOTONIC, &due);
  for (int i = 0; i < steps; ++i) {
    HandleRequest(i);
    oldest = (oldest + 1) % pages.size();
    if (pages[oldest] != nullptr) CachedPage(oldest, true);
    due.tv_nsec += long{microseconds} * 1000;
    due.tv_sec += due.tv_nsec / 1000000000;
    due.tv_nsec %= 1000000000;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, nullptr);
  }
  _exit(0);
}
