// Threads that map and unmap at the same time, and get each other's addresses; each keeps its last
// mapping.
//
// MAP function=work line=@work kind=anonymous leaked=131072/4 total=294912000/16000
// MAPPED leaked=131072/4 total=294912000/16000
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>

enum { kThreads = 4, kRounds = 4000, kPage = 4096 };

static void* work(void* unused) {
  char* kept = NULL;
  size_t kept_bytes = 0;
  for (int i = 0; i < kRounds; ++i) {
    const size_t bytes = (size_t)(i % 8 + 1) * kPage;
    char* p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);  // @work
    if (p == MAP_FAILED) return p;
    if (kept != NULL) munmap(kept, kept_bytes);
    kept = p;
    kept_bytes = bytes;
  }
  return unused;
}

int main(void) {
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    if (pthread_create(&threads[i], NULL, work, NULL) != 0) return 1;
  }
  for (int i = 0; i < kThreads; ++i) {
    void* result;
    pthread_join(threads[i], &result);
    if (result != NULL) return 1;
  }
  return 0;
}
