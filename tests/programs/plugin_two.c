// Part of plugins: see there. Other lines than plugin_one, but the same size when loaded.
#include <stdlib.h>

void plugin_two_leaks(void);

static void* volatile kept;

static void* allocate(size_t n) { return n == 0 ? NULL : malloc(n); }

void plugin_two_leaks(void) {
  kept = allocate(0);
  kept = malloc(300);  // @two
}
