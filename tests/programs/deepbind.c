// A plugin loaded with RTLD_DEEPBIND calls libc's malloc and free, not the tracker's. Its blocks
// are freed here, it frees blocks allocated here, and the addresses are reused. The figures of such
// blocks can't be known; the program runs as usual and other places stay exact.
//
// With another allocator than libc's the blocks must not be mixed. Then, and in the case "apart",
// each is freed where it was allocated. Those of the plugin are never seen.
//
// CASE name=mixed with=glibc
// CASE name=apart args=apart
// SOURCES deepbind_plugin.c
// SITE function=main line=@ours  peak@mixed=? peak=100/1 leaked@mixed=? leaked=0/0 total=100000/1000
// SITE function=main line=@exact peak=70000/1 leaked=70000/1 total=70000/1
// TRACKER dropped_events=0
#define _GNU_SOURCE
#include <dlfcn.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char directory[4096];
static void* volatile kept;

int main(int argc, char** argv) {
  const int mixed = argc == 1;
  (void)argv;
  if (readlink("/proc/self/exe", directory, sizeof directory - 1) < 0) return 1;
  char path[5000];
  snprintf(path, sizeof path, "%s/libdeepbind_plugin.so", dirname(directory));
  void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (handle == NULL) return 2;
  void* (*give)(size_t) = (void* (*)(size_t))dlsym(handle, "deepbind_gives");
  void (*take)(void*) = (void (*)(void*))dlsym(handle, "deepbind_takes");
  if (give == NULL || take == NULL) return 3;
  kept = malloc(70000);  // @exact
  for (int i = 0; i < 1000; ++i) {
    void* given = give(100);
    mixed ? free(given) : take(given);
    void* p = malloc(100);  // @ours
    memset(p, 1, 100);
    mixed ? take(p) : free(p);
    take(give(100));
  }
  return 0;
}
