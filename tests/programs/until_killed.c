// Not a known answer: threads allocate and free until the process is killed, each keeping its own
// book in a shared file, so that the test can compare after a SIGKILL.
//
// usage: until_killed FILE THREADS [BYTES]   BYTES: grow until that much is live, then hold
// FILE: 64 bytes a thread: live bytes, live blocks, events, and 1 while inside an event.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kBlocks = 1000 };

typedef struct {
  _Alignas(64) atomic_long live_bytes;
  atomic_long live_blocks, events, inside;
} Book;

static Book* books;

static void churn(Book* book, uint64_t seed) {
  static _Thread_local struct {
    void* p;
    size_t size;
  } blocks[kBlocks];
  for (uint64_t state = seed;;) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    size_t i = (state >> 33) % kBlocks, size = (state >> 50) % 1000 + 1;
    book->inside = 1;
    if (blocks[i].p != NULL) {
      free(blocks[i].p);
      blocks[i].p = NULL;
      book->live_bytes -= (long)blocks[i].size;
      book->live_blocks -= 1;
    } else {
      blocks[i].p = malloc(size);
      blocks[i].size = size;
      book->live_bytes += (long)size;
      book->live_blocks += 1;
    }
    book->events += 1;
    book->inside = 0;
  }
}

static void* work(void* argument) {
  size_t id = (size_t)argument;
  churn(&books[id], id + 1);
  return NULL;
}

static void grow(Book* book, long limit) {
  while (book->live_bytes < limit) {
    char* p = malloc(10000);
    if (p == NULL) break;
    memset(p, 1, 10000);
    book->live_bytes += 10000;
    book->live_blocks += 1;
  }
  for (;;) pause();
}

int main(int argc, char** argv) {
  if (argc < 3) return 1;
  int threads = atoi(argv[2]);
  int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
  if (fd < 0 || ftruncate(fd, 4096) != 0) return 2;
  books = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (books == MAP_FAILED || threads < 1 || threads > 64) return 3;
  if (argc > 3) grow(&books[0], atol(argv[3]));
  for (int i = 1; i < threads; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, (void*)(size_t)i) != 0) return 4;
  }
  work((void*)0);
  return 0;
}
