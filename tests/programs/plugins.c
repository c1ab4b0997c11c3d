// Two plugins of the same size, loaded one after the other, so that the second may be at the place
// of the first. The allocations of each stay with its own function and file. The first is loaded
// twice.
//
// SOURCES plugin_one.c plugin_two.c
// SITE function=plugin_one_leaks line=@one  peak=200/2 leaked=200/2 total=200/2
// SITE function=plugin_two_leaks line=@two  peak=300/1 leaked=300/1 total=300/1
// SITE function=main             line=@top  peak=90000/1 leaked=90000/1 total=90000/1
// WITHIN function=call line=@call peak=500/3 leaked=500/3 total=500/3
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
  if (call("plugin_one") != 0 || call("plugin_two") != 0 || call("plugin_one") != 0) return 2;
  kept = malloc(90000);  // @top
  return 0;
}
