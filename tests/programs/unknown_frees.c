// Blocks that the tracker never saw, freed and reallocated by functions that it sees; and blocks
// that libc allocates for the program. jemalloc's own malloc is found by a look into its library.
//
// SITE function=main line=@known peak=77/1 leaked=77/1 total=77/1
// SITE function=main line=@moved peak=999/1 leaked=999/1 total=999/1
// WITHIN function=copies line=@strdup  peak=6/1 leaked=6/1 total=6/1
// WITHIN function=copies line=@strndup peak=0/0 leaked=0/0 total=4/1
// TRACKER dropped_events=0
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

extern void* __libc_malloc(size_t);  // the same heap, behind the tracker's back

static void* volatile kept[4];

static void copies(void) {
  char* a = strndup("hello", 3);  // @strndup
  free(a);
  kept[0] = strdup("hello");  // @strdup
}

int main(void) {
  copies();
  void* (*unseen_malloc)(size_t) = __libc_malloc;
  void* jemalloc = dlopen("libjemalloc.so.2", RTLD_LAZY | RTLD_NOLOAD);
  if (jemalloc != NULL) unseen_malloc = (void* (*)(size_t))dlsym(jemalloc, "malloc");
  void* p = unseen_malloc(123);
  free(p);
  kept[1] = malloc(77);  // @known
  p = unseen_malloc(500);
  memset(p, 'x', 500);
  p = realloc(p, 999);  // @moved
  kept[2] = p;
  return ((char*)p)[499] == 'x' ? 0 : 1;
}
