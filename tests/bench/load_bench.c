// load_bench WHAT N: much of one thing.
//
//   threads N   threads that live for a moment, 20 at a time; each allocates six blocks of 100
//   bytes
//               and frees five
//   sites N     N stacks of their own (2^20 at most), each with a live block of 100 bytes
//   blocks N    N live blocks of 16 bytes of one stack, all freed in the end
//
// Says "done".
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kAtOnce = 20, kDepth = 20 };

static void* allocate(size_t size) {
  char* p = malloc(size);
  if (p == NULL) abort();
  p[0] = 1;
  return p;
}

static void* moment(void* unused) {
  void* blocks[6];
  for (int i = 0; i < 6; ++i) blocks[i] = allocate(100);
  for (int i = 1; i < 6; ++i) free(blocks[i]);
  (void)unused;
  return blocks[0];
}

static void threads(unsigned long n) {
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 64 * 1024);
  for (unsigned long done = 0; done < n; done += kAtOnce) {
    pthread_t ids[kAtOnce];
    for (int i = 0; i < kAtOnce; ++i) {
      if (pthread_create(&ids[i], &small, moment, NULL) != 0) abort();
    }
    for (int i = 0; i < kAtOnce; ++i) pthread_join(ids[i], NULL);
  }
}

static void* volatile newest;
static void left(unsigned long path, int depth);
static void right(unsigned long path, int depth);

// Each bit of the path is a function of its own on the stack.
__attribute__((noinline)) static void go(unsigned long path, int depth) {
  if (depth == kDepth) {
    newest = allocate(100);
  } else if ((path >> depth & 1) != 0) {
    left(path, depth + 1);
  } else {
    right(path, depth + 1);
  }
  __asm__ volatile("");  // no tail call
}
__attribute__((noinline)) static void left(unsigned long path, int depth) {
  go(path, depth);
  __asm__ volatile("");
}
__attribute__((noinline)) static void right(unsigned long path, int depth) {
  go(path, depth);
  __asm__ volatile("");
}

static void blocks(unsigned long n) {
  void** all = calloc(n, sizeof *all);
  if (all == NULL) abort();
  for (unsigned long i = 0; i < n; ++i) all[i] = allocate(16);
  for (unsigned long i = 0; i < n; ++i) free(all[i]);
  free(all);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const unsigned long n = strtoul(argv[2], NULL, 10);
  if (strcmp(argv[1], "threads") == 0) {
    threads(n);
  } else if (strcmp(argv[1], "sites") == 0) {
    for (unsigned long path = 0; path < n; ++path) go(path, 0);
  } else if (strcmp(argv[1], "blocks") == 0) {
    blocks(n);
  } else {
    return 2;
  }
  if (write(1, "done\n", 5) != 5) return 1;
  return 0;
}
