// Keeps one of 64 blocks, so that the others' memory can't be given back. Prints "ready". A line on its
// input: it frees what it kept, has the allocator give memory back, and prints by how many bytes its
// resident memory has fallen.
//
// usage: pinned_pages MIB [BYTES of a block]
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kOneOf = 64 };

static size_t bytes = 200;

static char** blocks;
static size_t count;

static char* Kept(void) { return malloc(bytes); }
static char* Freed(void) { return malloc(bytes); }

static long Resident(void) {
  char text[256] = {0};
  FILE* file = fopen("/proc/self/statm", "r");
  setvbuf(file, NULL, _IONBF, 0);
  fgets(text, sizeof text, file);
  fclose(file);
  return atol(strchr(text, ' ')) * 4096;
}

// By whichever allocator this is.
static void GiveBack(void) {
  int (*control)(const char*, void*, size_t*, void*, size_t) =
      (int (*)(const char*, void*, size_t*, void*, size_t))dlsym(RTLD_DEFAULT, "mallctl");
  void (*collect)(int) = (void (*)(int))dlsym(RTLD_DEFAULT, "mi_collect");
  void (*release)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "MallocExtension_ReleaseFreeMemory");
  int (*trim)(size_t) = (int (*)(size_t))dlsym(RTLD_DEFAULT, "malloc_trim");
  if (control != NULL) {
    control("thread.tcache.flush", NULL, NULL, NULL, 0);
    control("arena.4096.purge", NULL, NULL, NULL, 0);  // all of them
  } else if (collect != NULL) {
    collect(1);
  } else if (release != NULL) {
    release();
  } else if (trim != NULL) {
    trim(0);
  }
}

int main(int argc, char** argv) {
  if (argc > 2) bytes = (size_t)atol(argv[2]);
  count = (size_t)atol(argv[1]) * (1 << 20) / bytes;
  blocks = malloc(count * sizeof *blocks);
  for (size_t i = 0; i < count; ++i) {
    blocks[i] = i % kOneOf == 0 ? Kept() : Freed();
    memset(blocks[i], 1, bytes);
  }
  for (size_t i = 0; i < count; ++i) {
    if (i % kOneOf != 0) free(blocks[i]);
  }
  GiveBack();
  write(1, "ready\n", 6);
  char byte;
  if (read(0, &byte, 1) != 1) return 0;
  Resident();
  const long before = Resident();
  for (size_t i = 0; i < count; i += kOneOf) free(blocks[i]);
  GiveBack();
  printf("%ld\n", before - Resident());
  fflush(stdout);
  while (read(0, &byte, 1) > 0) {
  }
  return 0;
}
