// Marks end segments of the peak; the run's peak is the highest of them, with its rows.
//
// The heap: 700 (of early) · mark · 100 · mark · 100 + 400 (of middle: not higher) · free 400 ·
// snapshot · 100 + 650 = 750 (of late), the peak, freed · mark · 100.
//
// SITE function=early line=@EARLY peak=0/0 leaked=0/0 total=700/1
// SITE function=kept line=@KEPT peak=100/1 leaked=100/1 total=100/1
// SITE function=middle line=@MIDDLE peak=0/0 leaked=0/0 total=400/4
// SITE function=late line=@LATE peak=650/2 leaked=0/0 total=650/2
// WHOLE peak=750/3 leaked=100/1 total=1850/8
// CASE
// CASE flags=--exact-peak
#include <memprof/memprof.h>
#include <stdlib.h>

static void* volatile keep;

static void early(void) {
  free(malloc(700));  // @EARLY
}
static void kept(void) {
  keep = malloc(100);  // @KEPT
}
static void middle(void) {
  void* blocks[4];
  for (int i = 0; i < 4; ++i) {
    blocks[i] = malloc(100);  // @MIDDLE
  }
  for (int i = 0; i < 4; ++i) free(blocks[i]);
}
static void late(void) {
  void* blocks[2];
  for (int i = 0; i < 2; ++i) {
    blocks[i] = malloc(325);  // @LATE
  }
  for (int i = 0; i < 2; ++i) free(blocks[i]);
}

int main(void) {
  early();
  memprof_scope outer = memprof_scope_begin("outer", 0);
  kept();
  memprof_scope inner = memprof_scope_begin("inner", 0);
  middle();
  memprof_snapshot("between");
  late();
  memprof_scope_end(inner, NULL);
  memprof_scope_release(inner);
  memprof_scope_release(outer);
  memprof_scope last = memprof_scope_begin("last", MEMPROF_THREAD);
  memprof_scope_release(last);
  return 0;
}
