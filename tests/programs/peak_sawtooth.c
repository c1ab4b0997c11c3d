// Rises and falls over many places. In round r (1 to 200) each of the three places allocates r
// blocks, then all are freed, the first allocated first; round 200 is the highest, except for one
// last moment: with 200 blocks of each live, nothing else. Then a fourth place rises to within one
// byte of it.
//
// A block of `low` has 10 bytes, of `middle` 20, of `high` 30; 60 × 200 = 12000 bytes at the peak.
// Blocks in all: 1 + 2 + … + 200 = 20100 a place.
//
// SITE function=low    line=@low    peak=2000/200 leaked=0/0 total=201000/20100
// SITE function=middle line=@middle peak=4000/200 leaked=0/0 total=402000/20100
// SITE function=high   line=@high   peak=6000/200 leaked=0/0 total=603000/20100
// SITE function=almost line=@almost peak=0/0 leaked=11999/1 total=11999/1
// WHOLE peak=12000/600 leaked=11999/1 total=1217999/60301
#include <stdlib.h>

static void* low(void) {
  return malloc(10);  // @low
}
static void* middle(void) {
  return malloc(20);  // @middle
}
static void* high(void) {
  return malloc(30);  // @high
}
static void* almost(void) {
  return malloc(11999);  // @almost
}

static void* blocks[600];
static void* volatile kept;

int main(void) {
  for (int round = 1; round <= 200; ++round) {
    int n = 0;
    for (int i = 0; i < round; ++i) {
      blocks[n++] = low();
      blocks[n++] = middle();
      blocks[n++] = high();
    }
    for (int i = 0; i < n; ++i) free(blocks[i]);
  }
  kept = almost();
  return 0;
}
