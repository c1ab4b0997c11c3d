// close_range over all descriptors, then new descriptors at the numbers that became free.
//
// SITE function=main line=@before peak=1000/1 leaked=1000/1 total=1000/1
// SITE function=main line=@after  peak=2000/1 leaked=2000/1 total=2000/1
// WHOLE peak=3000/2 leaked=3000/2 total=3000/2
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static void* volatile kept;

int main(void) {
  kept = malloc(1000);  // @before
  if (close_range(0, ~0u, 0) != 0) return 1;
  for (int expected = 0; expected < 20; ++expected) {
    if (open("/dev/null", O_RDWR) != expected) return 2;
  }
  kept = malloc(2000);  // @after
  for (int fd = 0; fd < 20; ++fd) {
    if (write(fd, "x", 1) != 1) return 3;
  }
  return 0;
}
