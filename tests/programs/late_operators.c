// operator new(size_t) and operator delete(void*), which accept only blocks of their own.
#include <stdlib.h>
#include <string.h>

void* _Znwm(size_t size) {
  char* block = malloc(size + 16);
  strcpy(block, RUNTIME);
  return block + 16;
}

void _ZdlPv(void* address) {
  char* block = (char*)address - 16;
  if (strcmp(block, RUNTIME) != 0) abort();
  free(block);
}

const char* late_runtime_name(void) { return RUNTIME; }
