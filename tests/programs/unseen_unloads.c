// Two plugins of the same extent, one after the other at the same place. The first is unloaded by
// libc's own dlclose, which no hook sees, as libc itself unloads its modules for iconv and NSS.
// Their outer functions have the same code at the same place, their inner ones have not.
//
// SOURCES unseen_plugin.c
// SITE function=first_inner line=@inner peak=100/1   leaked=100/1   total=100/1
// SITE function=other_inner line=@inner peak=100/1   leaked=100/1   total=100/1
// SITE function=main        line=@top   peak=90000/1 leaked=90000/1 total=90000/1
// WITHIN function=first_outer line=@outer peak=100/1 leaked=100/1 total=100/1
// WITHIN function=other_outer line=@outer peak=100/1 leaked=100/1 total=100/1
// WITHIN function=call        line=@call  peak=200/2 leaked=200/2 total=200/2
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
  snprintf(path, sizeof path, "%s/libunseen_%s.so", directory, name);
  snprintf(symbol, sizeof symbol, "%s_outer", name);
  int (*libcs_dlclose)(void*) =
      (int (*)(void*))dlsym(dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD), "dlclose");
  void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL || libcs_dlclose == NULL) return 1;
  void (*outer)(void) = (void (*)(void))dlsym(handle, symbol);
  if (outer == NULL) return 2;
  outer();  // @call
  return libcs_dlclose(handle);
}

int main(void) {
  if (readlink("/proc/self/exe", directory, sizeof directory - 1) < 0) return 1;
  dirname(directory);  // cuts it in place
  if (call("first") != 0 || call("other") != 0) return 2;
  kept = malloc(90000);  // @top
  return 0;
}
