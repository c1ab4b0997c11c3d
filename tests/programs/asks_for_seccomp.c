// A call that only asks whether the kernel has seccomp, as libseccomp begins: the kernel refuses it,
// no filter is set, and the tracker may go on to map memory, also in a child.
//
// SITE function=fill line=@fill peak=2490000/20000 leaked=2490000/20000 total=2490000/20000
// TRACKER dropped_events=0 tables_full_events=0 untracked_children=0
#define _GNU_SOURCE
#include <errno.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void* blocks[20000];

static void fill(void) {
  for (int i = 0; i < 20000; ++i) {
    blocks[i] = malloc((size_t)(100 + i % 50));  // @fill
  }
}

int main(void) {
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, NULL) == 0 || errno != EINVAL) return 77;
  fill();
  const pid_t child = fork();
  if (child == 0) {
    free(malloc(12345));
    _exit(0);
  }
  int status = 0;
  return waitpid(child, &status, 0) != child || status != 0;
}
