// Blocks that are freed by a function that isn't hooked. The allocator gives their addresses out
// again: the old blocks are known to be gone then, and the figures aren't exact.
//
// 100 blocks, one after the other, of which the last stays; 1000 together, three times, of which
// the last thousand stay.
//
// CASE with=glibc
// SITE function=one  line=@one  peak=? leaked=100/1      total=10000/100
// SITE function=many line=@many peak=? leaked=3200000/1000 total=9600000/3000
// TRACKER dropped_events=2099
#include <stdlib.h>

extern void __libc_free(void*);

static void* one(void) {
  return malloc(100);  // @one
}
static void* many(void) {
  return malloc(3200);  // @many
}

int main(void) {
  static void* volatile blocks[1000];
  for (int i = 0; i < 100; ++i) {
    void* block = one();
    if (i < 99) __libc_free(block);
  }
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 1000; ++i) blocks[i] = many();
    if (round == 2) break;
    for (int i = 0; i < 1000; ++i) __libc_free(blocks[i]);
  }
  return 0;
}
