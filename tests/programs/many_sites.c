// Not a known answer of its own: 32,768 stacks, each with a live block of 100 bytes; then it is
// idle until its input ends (history_test).
#include <stdlib.h>
#include <unistd.h>

enum { kDepth = 15 };

static void* volatile newest;

static void left(unsigned path, int depth);
static void right(unsigned path, int depth);

static void go(unsigned path, int depth) {
  if (depth == kDepth) {
    newest = malloc(100);
  } else if ((path >> depth & 1) != 0) {
    left(path, depth + 1);
  } else {
    right(path, depth + 1);
  }
}

static void left(unsigned path, int depth) {
  go(path, depth);
}

static void right(unsigned path, int depth) {
  go(path, depth);
}

int main(void) {
  for (unsigned path = 0; path < 1u << kDepth; ++path) go(path, 0);
  char byte = 'x';
  if (write(1, &byte, 1) != 1) return 1;
  while (read(0, &byte, 1) == 1) {
  }
  return 0;
}
