// A service that shuts itself in: it closes every descriptor, changes its directory, its root and
// its user, and goes on allocating.
//
// NEEDS root
// SITE function=before line=@before peak=1000/1   leaked=1000/1   total=1000/1
// SITE function=after  line=@after  peak=50000/50 leaked=50000/50 total=50000/50
// WHOLE peak=51000/51 leaked=51000/51 total=51000/51
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static void* volatile kept;

static void before(void) {
  kept = malloc(1000);  // @before
}
__attribute__((noinline)) static void after(void) {
  kept = malloc(1000);  // @after
}

int main(void) {
  before();
  for (int fd = 0; fd < 1024; ++fd) close(fd);
  if (chdir("/proc") != 0 || chroot(".") != 0 || chdir("/") != 0) return 1;
  if (setgid(65534) != 0 || setuid(65534) != 0) return 2;
  struct rlimit no_files = {0, 0};
  if (setrlimit(RLIMIT_NOFILE, &no_files) != 0 || setrlimit(RLIMIT_FSIZE, &no_files) != 0) return 3;
  for (int i = 0; i < 50; ++i) after();
  return 0;
}
