// Blocks that the tracker never saw, passed to jemalloc's extended functions. Two are freed
// (dallocx, sdallocx); the results of rallocx and xallocx are known from then on.
//
// SITE function=main line=@rallocx peak=0/0     leaked=0/0   total=999/1
// SITE function=main line=@xallocx peak=112/1   leaked=112/1 total=112/1
// SITE function=main line=@last    peak=5000/1  leaked=0/0   total=5000/1
// TRACKER unknown_frees>=2
// TRACKER dropped_events=0
#include <dlfcn.h>
#include <stdlib.h>

#include "jemalloc_extensions.h"

static void* volatile keep;

int main(void) {
  // jemalloc's own, behind the tracker's back.
  void* library = dlopen("libjemalloc.so.2", RTLD_LAZY | RTLD_NOLOAD);
  if (library == NULL) return 1;
  void* (*unseen)(size_t, int) = (void* (*)(size_t, int))dlsym(library, "mallocx");
  if (unseen == NULL) return 2;

  dallocx(unseen(10, 0), 0);
  sdallocx(unseen(20, 0), 20, 0);
  void* p = rallocx(unseen(30, 0), 999, 0);  // @rallocx
  dallocx(p, 0);
  p = unseen(100, 0);
  if (xallocx(p, 100000, 0, 0) != 112) return 3;  // not grown, and so still unknown
  if (xallocx(p, 112, 0, 0) != 112) return 4;     // @xallocx
  keep = p;
  dallocx(mallocx(5000, 0), 0);  // @last
  return 0;
}
