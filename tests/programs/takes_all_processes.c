// A server that has as many workers as it may: under a limit of processes (RLIMIT_NPROC, or that of a
// container) nobody beside it can start a thread. Workers end, and others take their places.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int up[2];

// Returns when the worker is at work.
static pid_t worker(void) {
  const pid_t child = fork();
  char byte = 0;
  if (child == 0) {
    free(malloc(100));
    if (write(up[1], &byte, 1) != 1) _exit(1);
    pause();
    _exit(0);
  }
  if (child > 0 && read(up[0], &byte, 1) != 1) exit(1);
  return child;
}

int main(void) {
  if (pipe(up) != 0) return 1;
  pid_t workers[64];
  int count = 0;
  while (count < 64 && (workers[count] = worker()) > 0) ++count;
  if (count == 0 || count == 64) return 77;  // there is no limit
  for (int i = 0; i < 20; ++i) {
    kill(workers[i % count], SIGTERM);
    waitpid(workers[i % count], NULL, 0);
    pid_t next = -1;
    for (int tries = 0; tries < 1000 && next < 0; ++tries) {
      next = worker();
      if (next < 0) usleep(1000);
    }
    if (next < 0) return 1;
    workers[i % count] = next;
  }
  for (int i = 0; i < count; ++i) kill(workers[i], SIGTERM);
  while (wait(NULL) > 0) {
  }
  free(malloc(500));
  puts("done");
  return 6;
}
