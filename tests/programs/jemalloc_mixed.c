// Blocks of malloc that are passed to jemalloc's extended functions, and the other way round. Each
// block is counted once and freed once. With a preloaded malloc other than jemalloc's the program
// is at fault.
//
// CASE with=glibc,jemalloc
// SITE function=main line=@malloc_d   peak=0/0       leaked=0/0      total=101/1
// SITE function=main line=@calloc_s   peak=0/0       leaked=0/0      total=102/1
// SITE function=main line=@mallocx_f  peak=0/0       leaked=0/0      total=103/1
// SITE function=main line=@mallocx_r  peak=0/0       leaked=0/0      total=104/1
// SITE function=main line=@realloc    peak=5000/1    leaked=5000/1   total=5000/1
// SITE function=main line=@malloc_r   peak=0/0       leaked=0/0      total=105/1
// SITE function=main line=@rallocx    peak=6000/1    leaked=6000/1   total=6000/1
// SITE function=main line=@malloc_x   peak=0/0       leaked=0/0      total=33/1
// SITE function=main line=@xallocx    peak=40/1      leaked=40/1     total=40/1
// SITE function=main line=@mallocx_0  peak=0/0       leaked=0/0      total=106/1
// SITE function=main line=@realloc_x  peak=0/0       leaked=0/0      total=107/1
// SITE function=main line=@realloc_d  peak=0/0       leaked=0/0      total=700/1
// SITE function=in_thread             peak=0/0       leaked=0/0      total=108/1
// SITE function=main line=@last       peak=900000/1  leaked=0/0      total=900000/1
// TRACKER dropped_events=0
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>

#include "jemalloc_extensions.h"

static void* volatile keep[4];

static void* in_thread(void* unused) { return mallocx(108, 0); }

int main(void) {
  dallocx(malloc(101), 0);           // @malloc_d
  sdallocx(calloc(1, 102), 102, 0);  // @calloc_s
  free(mallocx(103, 0));             // @mallocx_f

  void* p = mallocx(104, 0);                // @mallocx_r
  keep[0] = realloc(p, 5000);               // @realloc
  p = malloc(105);                          // @malloc_r
  keep[1] = rallocx(p, 6000, 0);            // @rallocx
  p = malloc(33);                           // @malloc_x
  if (xallocx(p, 40, 0, 0) < 40) return 1;  // @xallocx
  keep[2] = p;

  p = mallocx(106, 0);  // @mallocx_0
  free(p);
  p = mallocx(107, 0);  // @realloc_x
  p = realloc(p, 700);  // @realloc_d
  dallocx(p, 0);

  pthread_t thread;
  if (pthread_create(&thread, NULL, in_thread, NULL) != 0) return 2;
  if (pthread_join(thread, &p) != 0) return 3;
  free(p);

  free(mallocx(900000, 0));  // @last
  return 0;
}
