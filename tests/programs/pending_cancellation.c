// A thread with a pending cancellation, which ends at the next cancellation point. Neither an
// allocation nor exit() is one.
//
//   exit    ends the process with status 3
//   child   a forked child allocates on thousands of stacks for half a second, and ends with 0
//   thread  so does a thread, which then says that it did
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void* volatile kept;
static volatile int all_done;

static void leaf(void) {
  kept = malloc(100);
  free(kept);
}
static void walk(int depth, int path) {
  if (depth == 0) {
    leaf();
  } else if (path & 1) {
    walk(depth - 1, path >> 1);
  } else {
    walk(depth - 1, path >> 1);
  }
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

static void allocate_for_a_while(void) {
  const double end = now() + 0.5;
  int path = 0;
  while (now() < end) walk(16, path++ % 65536);
}

static void* thread(void* none) {
  pthread_cancel(pthread_self());
  allocate_for_a_while();
  all_done = 1;
  return none;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "exit";
  if (strcmp(what, "exit") == 0) {
    kept = malloc(1000);
    pthread_cancel(pthread_self());
    exit(3);
  }
  if (strcmp(what, "child") == 0) {
    kept = malloc(1000);
    const pid_t child = fork();
    if (child == 0) {
      pthread_cancel(pthread_self());
      allocate_for_a_while();
      _exit(0);
    }
    int status = -1;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 9;
  }
  pthread_t id;
  if (pthread_create(&id, NULL, thread, NULL) != 0) return 77;
  pthread_join(id, NULL);
  return all_done ? 0 : 9;
}
