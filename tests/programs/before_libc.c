// Two events before libc is ready, when the tracker can't start yet: they are in no figure, and are
// reported as missing.
//
// SITE function=main line=@kept peak=77/1 leaked=77/1 total=77/1
// WHOLE peak=77/1 leaked=77/1 total=77/1
// TRACKER dropped_events=2
#include <stdlib.h>

static void* volatile block;
static void* volatile kept;

static void before_libc(int argc, char** argv, char** environment) {
  (void)argc, (void)argv, (void)environment;
  block = malloc(123);
  block = realloc(block, 1000);
}
__attribute__((section(".preinit_array"), used)) static void (*first)(int, char**,
                                                                      char**) = before_libc;

int main(void) {
  kept = malloc(77);  // @kept
  return block != NULL ? 0 : 1;
}
