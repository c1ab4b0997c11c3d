// Blocks that are freed soon, sizes and functions of the allocator, in one thread. In "one" a block
// is temporary if nothing was allocated before it was freed, in "eight" if fewer than 8 blocks were.
//
// at_once: 5 × 10, each freed at once. two: 20 and 30, then both are freed: one allocation after the
// 20, none after the 30. after: 100 with 7 others in between, 200 with 8. The others, 15 × 1, leak.
// replaced: 300, which a realloc to 400 replaces: never temporary; the 400 are freed at once.
// between: 600, then 500, then the 600 become 650; then the 500 are freed (a realloc is an
// allocation) and the 650. failing: a realloc of the 700 fails. zeroed: realloc(p, 0) frees 800.
// of_kinds: calloc(3, 7), aligned_alloc of 128 and malloc(0), freed at once.
// of_sizes: 0, 1, 2, 3, 4, 1000, 1024, 1025 from one place, freed at once.
// by_pointer: one call, of malloc and of valloc in turns, 50 × 48 each, freed at once.
//
// mimalloc's realloc(p, 0) gives a block.
//
// CASE name=one with=glibc,jemalloc,tcmalloc
// CASE name=eight flags=--temporary,8 with=glibc,jemalloc,tcmalloc
// SITE function=at_once    line=@at_once   kind=malloc  total=50/5    temporary=50/5   sizes=8-15:5
// SITE function=two        line=@twenty    kind=malloc  total=20/1    temporary@one=0/0 temporary@eight=20/1
// SITE function=two        line=@thirty    kind=malloc  total=30/1    temporary=30/1
// SITE function=after      line=@hundreds  kind=malloc  total=300/2   temporary@one=0/0 temporary@eight=100/1
// SITE function=after      line=@others    kind=malloc  total=15/15   temporary=0/0    peak=15/15 leaked=15/15
// SITE function=replaced   line=@replaced  kind=malloc  total=300/1   temporary=0/0
// SITE function=replaced   line=@replacing kind=realloc total=400/1   temporary=400/1
// SITE function=between    line=@grown     kind=malloc  total=600/1   temporary=0/0
// SITE function=between    line=@before    kind=malloc  total=500/1   temporary@one=0/0 temporary@eight=500/1 peak=500/1
// SITE function=between    line=@growing   kind=realloc total=650/1   temporary=650/1  peak=650/1
// SITE function=failing    line=@failing   kind=malloc  total=700/1   temporary=700/1
// SITE function=zeroed     line=@zeroed    kind=malloc  total=800/1   temporary=800/1
// SITE function=of_kinds   line=@cleared   kind=calloc  total=21/1    temporary=21/1   sizes=16-31:1
// SITE function=of_kinds   line=@aligned   kind=aligned total=128/1   temporary=128/1
// SITE function=of_kinds   line=@nothing   kind=malloc  total=0/1     temporary=0/1    sizes=0-0:1
// SITE function=of_sizes   line=@sizes     kind=malloc  total=3059/8  temporary=3059/8 sizes=0-0:1,1-1:1,2-3:2,4-7:1,512-1023:1,1024-2047:2
// SITE function=by_pointer line=@pointer   kind=malloc  total=2400/50 temporary=2400/50 sizes=32-63:50
// SITE function=by_pointer line=@pointer   kind=aligned total=2400/50 temporary=2400/50 sizes=32-63:50
// WHOLE peak=1165/17 leaked=15/15 total=12373/142 temporary@one=10638/121 temporary@eight=11258/124
// SIZES 0-0=2 1-1=16 2-3=2 4-7=1 8-15=5 16-31=3 32-63=100 64-127=1 128-255=2 256-511=3 512-1023=5 1024-2047=2
// KINDS malloc=8774/88 calloc=21/1 realloc=1050/2 aligned=2528/51
#define _GNU_SOURCE
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>

static void* volatile keep;

static void at_once(void) {
  for (int i = 0; i < 5; ++i) free(malloc(10));  // @at_once
}
static void two(void) {
  void* p = malloc(20);  // @twenty
  void* q = malloc(30);  // @thirty
  free(p);
  free(q);
}
static void after(size_t size, int others) {
  void* p = malloc(size);  // @hundreds
  for (int i = 0; i < others; ++i) keep = malloc(1);  // @others
  free(p);
}
static void replaced(void) {
  void* p = malloc(300);  // @replaced
  free(realloc(p, 400));  // @replacing
}
static void between(void) {
  void* q = malloc(600);  // @grown
  void* p = malloc(500);  // @before
  q = realloc(q, 650);  // @growing
  free(p);
  free(q);
}
static void failing(void) {
  volatile size_t impossible = PTRDIFF_MAX - 4096;
  void* p = malloc(700);  // @failing
  if (realloc(p, impossible) != NULL) exit(2);
  free(p);
}
static void zeroed(void) {
  void* p = malloc(800);  // @zeroed
  if (realloc(p, 0) != NULL) exit(3);
}
static void of_kinds(void) {
  free(calloc(3, 7));  // @cleared
  free(aligned_alloc(64, 128));  // @aligned
  free(malloc(0));  // @nothing
}
static void of_sizes(void) {
  static const size_t sizes[] = {0, 1, 2, 3, 4, 1000, 1024, 1025};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) free(malloc(sizes[i]));  // @sizes
}
static void by_pointer(void) {
  void* (*const functions[])(size_t) = {malloc, valloc};
  for (int i = 0; i < 100; ++i) free(functions[i % 2](48));  // @pointer
}

int main(void) {
  at_once();
  two();
  after(100, 7);
  after(200, 8);
  replaced();
  between();
  failing();
  zeroed();
  of_kinds();
  of_sizes();
  by_pointer();
  return 0;
}
