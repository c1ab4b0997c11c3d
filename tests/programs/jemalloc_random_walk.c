// A seeded random walk over malloc and jemalloc's extended functions in any mixture, over 8 places.
// The program keeps its own book, as random_walk.c does. With a preloaded malloc other than
// jemalloc's the program is at fault.
//
// CASE with=glibc,jemalloc
// ANSWER
// TRACKER dropped_events=0
// TRACKER peak_bound_bytes=0
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jemalloc_extensions.h"

enum { kPlaces = 8, kBlocks = 5000, kEvents = 300000 };

typedef struct {
  long bytes, blocks;
} Count;
typedef struct {
  Count live, peak, total;
} Row;

static Row rows[kPlaces];
static long live_bytes, peak_bytes;
static struct {
  char* p;
  size_t size;
  int place;
} blocks[kBlocks];

// Odd places use jemalloc's functions, even ones malloc's. If `size` is odd, xallocx has the first
// try at resizing.
#define PLACE(n)                                                         \
  static void* place##n(void* p, size_t size) {                          \
    if (n % 2 == 0) return p ? realloc(p, size) : malloc(size);          \
    if (p == NULL) return mallocx(size, n == 3 ? MALLOCX_ALIGN(64) : 0); \
    if (size % 2 != 0 && xallocx(p, size, 0, 0) >= size) return p;       \
    return rallocx(p, size, n == 5 ? MALLOCX_ZERO : 0);                  \
  }
PLACE(0)
PLACE(1) PLACE(2) PLACE(3) PLACE(4) PLACE(5) PLACE(6) PLACE(7)

    static void* (*const places[kPlaces])(void*, size_t) = {place0, place1, place2, place3,
                                                            place4, place5, place6, place7};

static uint32_t Random(void) {
  static uint64_t state = 20240229;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 33);
}

static void Forget(int i) {
  Row* row = &rows[blocks[i].place];
  row->live.bytes -= (long)blocks[i].size;
  row->live.blocks -= 1;
  live_bytes -= (long)blocks[i].size;
}

static void Allocate(int i) {
  size_t size = Random() % 10 == 0 ? Random() % 50000 + 1 : Random() % 300 + 1;
  int place = (int)(Random() % kPlaces);
  if (blocks[i].p != NULL) Forget(i);  // a realloc: the old one goes first
  blocks[i].p = places[place](blocks[i].p, size);
  blocks[i].size = size;
  blocks[i].place = place;
  blocks[i].p[size - 1] = 1;
  Row* row = &rows[place];
  row->live.bytes += (long)size;
  row->live.blocks += 1;
  row->total.bytes += (long)size;
  row->total.blocks += 1;
  live_bytes += (long)size;
  if (live_bytes > peak_bytes) {
    peak_bytes = live_bytes;
    for (int p = 0; p < kPlaces; ++p) rows[p].peak = rows[p].live;
  }
}

static int WriteAnswer(const char* path) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd < 0) return 1;
  for (int p = 0; p < kPlaces; ++p) {
    const Row* r = &rows[p];
    char line[300];
    int n = snprintf(line, sizeof line,
                     "SITE function=place%d peak=%ld/%ld leaked=%ld/%ld total=%ld/%ld\n", p,
                     r->peak.bytes, r->peak.blocks, r->live.bytes, r->live.blocks, r->total.bytes,
                     r->total.blocks);
    if (write(fd, line, (size_t)n) != n) return 2;
  }
  return close(fd);
}

int main(void) {
  for (int event = 0; event < kEvents; ++event) {
    int i = (int)(Random() % kBlocks);
    // The walk climbs and falls: in every other stretch more is freed than allocated.
    uint32_t frees_of_4 = event / 20000 % 2 == 0 ? 1 : 3;
    if (blocks[i].p == NULL || Random() % 4 >= frees_of_4) {
      Allocate(i);
    } else {
      Forget(i);
      if (event % 2 == 0) {
        free(blocks[i].p);
      } else {
        dallocx(blocks[i].p, event % 3 == 0 ? MALLOCX_TCACHE_NONE : 0);
      }
      blocks[i].p = NULL;
    }
  }
  const char* path = getenv("KNOWN_ANSWER");
  return path == NULL ? 0 : WriteAnswer(path);
}
