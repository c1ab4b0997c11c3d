// A C program's plugins bring C++ runtimes in scopes of their own. Each plugin's operators are its
// runtime's, whatever else is loaded, also after they were unloaded and loaded elsewhere. The
// runtimes abort if they get each other's blocks. The very first call comes from a thread that
// holds a lock for which a constructor waits in dlopen.
//
// A preloaded allocator has operators itself, in the global scope: all of the plugins' calls go
// there, and the figures are the same.
//
// SOURCES late_plugin_one.c late_plugin_two.c
// SITE function=late_one_gives line=@one        peak=? leaked=0/0   total=2000/20
// SITE function=late_one_gives line=@one_passes peak=? leaked=0/0   total=2000/20
// SITE function=late_two_gives line=@two        peak=? leaked=500/5 total=3000/30
// SITE function=late_two_gives line=@two_passes peak=? leaked=0/0   total=3000/30
// TRACKER dropped_events=0
// TRACKER unknown_frees=0
#define _GNU_SOURCE
#include <dlfcn.h>
#include <libgen.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "which_allocator.h"

static char executable[4096];
static const char* directory;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int locked, in_constructor;

struct plugin {
  void* handle;
  void* (*gives)(size_t);
  void (*takes)(void*);
};

void constructor_waits(void) {
  in_constructor = 1;
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
}

static void* load(const char* name) {
  char path[5000];
  snprintf(path, sizeof path, "%s/lib%s.so", directory, name);
  void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) exit(2);
  return handle;
}

static struct plugin load_plugin(const char* which) {
  char name[100];
  snprintf(name, sizeof name, "late_plugin_%s", which);
  struct plugin plugin = {load(name), NULL, NULL};
  snprintf(name, sizeof name, "late_%s_gives", which);
  plugin.gives = (void* (*)(size_t))dlsym(plugin.handle, name);
  snprintf(name, sizeof name, "late_%s_takes", which);
  plugin.takes = (void (*)(void*))dlsym(plugin.handle, name);
  return plugin;
}

// Gives and takes ten blocks of 100 bytes, of which the runtime is to be `which`.
static void use(struct plugin plugin, const char* which) {
  for (int i = 0; i < 10; ++i) {
    char* block = plugin.gives(100);
    if (which_allocator() == kGlibc && strcmp(block - 16, which) != 0) exit(3);
    plugin.takes(block);
  }
}

static void* first_calls(void* plugin) {
  pthread_mutex_lock(&lock);
  locked = 1;
  while (!in_constructor) usleep(100);
  use(*(struct plugin*)plugin, "two");
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(void) {
  alarm(20);
  if (readlink("/proc/self/exe", executable, sizeof executable - 1) < 0) return 1;
  directory = dirname(executable);

  struct plugin two = load_plugin("two");
  pthread_t thread;
  pthread_create(&thread, NULL, first_calls, &two);
  while (!locked) usleep(100);
  load("waiting_constructor");
  pthread_join(thread, NULL);

  struct plugin one = load_plugin("one");
  use(one, "one");
  use(two, "two");
  dlclose(one.handle);
  dlclose(two.handle);

  one = load_plugin("one");
  two = load_plugin("two");
  use(one, "one");
  void* kept[5];
  for (int i = 0; i < 5; ++i) kept[i] = two.gives(100);
  dlclose(one.handle);
  for (int i = 0; i < 5; ++i) two.takes(kept[i]);
  for (int i = 0; i < 5; ++i) kept[i] = two.gives(100);
  return kept[0] == NULL;
}
