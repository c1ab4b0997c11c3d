// Part of deepbind: see there.
#include <stdlib.h>

void* deepbind_gives(size_t n);
void deepbind_takes(void* p);

void* deepbind_gives(size_t n) { return malloc(n); }
void deepbind_takes(void* p) { free(p); }
