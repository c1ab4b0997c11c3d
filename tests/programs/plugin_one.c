// Part of plugins: see there.
#include <stdlib.h>

void plugin_one_leaks(void);

static void* volatile kept;

void plugin_one_leaks(void) {
  kept = malloc(100);  // @one
}
