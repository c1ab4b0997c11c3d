// realloc in all its cases. A block belongs to the realloc that gave it its present size.
//
// grow: 100 → 300 → 5000 (leaked), from two functions.
// shrink: 4000 → 40 (leaked). in place: 64 → 64 (freed).
// zero: realloc(p, 0) frees 700. null: realloc(NULL, 33) allocates (freed).
// fail: a realloc that can't succeed keeps its 900 bytes where they were (leaked).
// array: an overflow fails and keeps its 250 bytes (leaked); then 250 → 600 (leaked instead).
//
// jemalloc's realloc fails as glibc's does, but leaves errno as it was. mimalloc's realloc(p, 0)
// gives a block.
//
// CASE with=glibc,jemalloc,tcmalloc
// SITE function=first      line=@first   peak=0/0    leaked=0/0    total=100/1
// SITE function=grow_once  line=@once    peak=0/0    leaked=0/0    total=300/1
// SITE function=grow_twice line=@twice   peak=5000/1 leaked=5000/1 total=5000/1
// SITE function=main       line=@large   peak=0/0    leaked=0/0    total=4000/1
// SITE function=main       line=@shrunk  peak=40/1   leaked=40/1   total=40/1
// SITE function=main       line=@same_a  peak=0/0    leaked=0/0    total=64/1
// SITE function=main       line=@same_b  peak=0/0    leaked=0/0    total=64/1
// SITE function=main       line=@zero    peak=0/0    leaked=0/0    total=700/1
// SITE function=main       line=@null    peak=0/0    leaked=0/0    total=33/1
// SITE function=main       line=@keeps   peak=900/1  leaked=900/1  total=900/1
// SITE function=main       line=@array   peak=0/0    leaked=0/0    total=250/1
// SITE function=main       line=@array_b peak=600/1  leaked=600/1  total=600/1
// SITE function=main       line=@last    peak=3500/1 leaked=0/0    total=3500/1
// WHOLE peak=10040/5 leaked=6540/4 total=15551/13
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "which_allocator.h"

static char* first(void) {
  return malloc(100);  // @first
}
static char* grow_once(char* p) {
  return realloc(p, 300);  // @once
}
static char* grow_twice(char* p) {
  return realloc(p, 5000);  // @twice
}

static char* volatile keep[8];

int main(void) {
  volatile size_t impossible = PTRDIFF_MAX - 4096;
  const int error = which_allocator() == kJemalloc ? 0 : ENOMEM;
  char* p = first();
  memset(p, 'a', 100);
  p = grow_once(p);
  p = grow_twice(p);
  if (p[0] != 'a' || p[99] != 'a') return 1;
  keep[0] = p;

  p = malloc(4000);  // @large
  keep[1] = realloc(p, 40);  // @shrunk

  p = malloc(64);  // @same_a
  p = realloc(p, 64);  // @same_b
  free(p);

  p = malloc(700);  // @zero
  if (realloc(p, 0) != NULL) return 2;

  p = realloc(NULL, 33);  // @null
  free(p);

  p = malloc(900);  // @keeps
  memset(p, 'b', 900);
  errno = 0;
  if (realloc(p, impossible) != NULL || errno != error) return 3;
  if (p[0] != 'b' || p[899] != 'b') return 4;
  keep[2] = p;

  p = malloc(250);  // @array
  memset(p, 'c', 250);
  errno = 0;
  if (reallocarray(p, impossible, 16) != NULL || errno != ENOMEM) return 5;
  p = reallocarray(p, 60, 10);  // @array_b
  if (p[249] != 'c') return 6;
  keep[3] = p;

  free(malloc(3500));  // @last
  return 0;
}
