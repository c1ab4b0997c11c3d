/* Allocates as many bytes as it is told and keeps them for a while. */
#include <memprof/memprof.h>
#include <stdlib.h>

static void* parse_all(size_t bytes) { return malloc(bytes); }

int main(int argc, char** argv) {
  if (argc < 2) return 7;
  void* volatile kept = parse_all((size_t)atoi(argv[1]));
  memprof_snapshot("parsed");
  free(kept);
  return 0;
}
