// By its symbols it has a jemalloc inside that can be hooked, which refuses when it is asked.
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

int experimental_hooks_install_ctl(void) { return ENOENT; }
int je_mallctl(const char* name, void* old, size_t* old_bytes, void* fresh, size_t bytes) {
  return experimental_hooks_install_ctl();
}
void* je_mallocx(size_t size, int flags) { return malloc(size); }
void je_dallocx(void* p, int flags) { free(p); }

int main(void) {
  je_dallocx(je_mallocx(100, 0), 0);
  return 0;
}
