// A program that brings its own malloc.
#include <stddef.h>

static char memory[4096];

void* malloc(size_t size) { return size < sizeof memory ? memory : NULL; }
void free(void* block) { (void)block; }

int main(void) {
  free(malloc(1));
  return 0;
}
