// For LD_PRELOAD in the supervisor: at its first look the time of day is CLOCK_JUMP_SECONDS ahead
// (or behind), at the second it is right, at the third ahead again.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int jumps(void) { return strcmp(program_invocation_short_name, "memprof") == 0; }

int clock_gettime(clockid_t clock, struct timespec* now) {
  static int (*real)(clockid_t, struct timespec*);
  static long jump;
  static int looks;
  if (real == NULL) {
    *(void**)&real = dlsym(RTLD_NEXT, "clock_gettime");
    const char* seconds = getenv("CLOCK_JUMP_SECONDS");
    jump = seconds != NULL && jumps() ? atol(seconds) : 0;
  }
  const int result = real(clock, now);
  if (clock == CLOCK_REALTIME && ++looks % 2 == 1) now->tv_sec += jump;
  return result;
}
