// Two plugins of the same size, loaded in turn 2,500 times each: more loads than there are records
// for. The allocations of each stay with its own function and file.
//
// SOURCES plugin_one.c plugin_two.c
// SITE function=plugin_one_leaks line=@one  peak=250000/2500 leaked=250000/2500 total=250000/2500
// SITE function=plugin_two_leaks line=@two  peak=750000/2500 leaked=750000/2500 total=750000/2500
// SITE function=main             line=@top  peak=90000/1 leaked=90000/1 total=90000/1
// WITHIN function=call line=@call peak=1000000/5000 leaked=1000000/5000 total=1000000/5000
// TRACKER unnamed_frames=0
// TRACKER tables_full_events=0
#define _GNU_SOURCE
#include <dlfcn.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char directory[4096];
static void* volatile kept;

static int call(const char* name) {
  char path[5000], symbol[100];
  snprintf(path, sizeof path, "%s/lib%s.so", directory, name);
  snprintf(symbol, sizeof symbol, "%s_leaks", name);
  void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) return 1;
  void (*leak)(void) = (void (*)(void))dlsym(handle, symbol);
  if (leak == NULL) return 2;
  leak();  // @call
  return dlclose(handle);
}

int main(void) {
  if (readlink("/proc/self/exe", directory, sizeof directory - 1) < 0) return 1;
  dirname(directory);  // cuts it in place
  for (int i = 0; i < 2500; ++i) {
    if (call("plugin_one") != 0 || call("plugin_two") != 0) return 2;
  }
  kept = malloc(90000);  // @top
  return 0;
}
