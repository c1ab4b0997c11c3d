// A process whose main thread ends while another one goes on. tests/e2e/main_thread_ends_test.py
// knows the figures: its worker allocates 100 bytes ten times a round, each of some 10 ms, and then
// on threads of its own; the process exits with 3. Exits with 77 if it can't do its part.
//
// usage: main_thread_ends HOW ROUNDS [MS]
//   itself     it is this process, whose main thread ends after MS
//   forked     a forked child; this one exits with 0 if the child did with 3
//   namespace  the same in a new namespace of pids
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void* volatile kept;
static int rounds;

#define PLACE(n)                                           \
  __attribute__((noinline)) static void place_##n(void) { \
    kept = malloc(1000 + n);                               \
    __asm__ volatile("");                                  \
  }
PLACE(0) PLACE(1) PLACE(2) PLACE(3)
static void (*const places[])(void) = {place_0, place_1, place_2, place_3};

static void* late(void* at) {
  for (int i = 0; i < 4; ++i) places[i]();
  return at;
}

__attribute__((noinline)) static void work(void) {
  for (int i = 0; i < rounds * 10; ++i) {
    kept = malloc(100);
    if (i % 10 == 0) usleep(10000);
  }
}

static void* go_on(void* unused) {
  work();
  for (int i = 0; i < 4; ++i) {
    pthread_t threads[16];
    for (int j = 0; j < 16; ++j) {
      if (pthread_create(&threads[j], NULL, late, unused) != 0) _exit(4);
    }
    for (int j = 0; j < 16; ++j) pthread_join(threads[j], NULL);
  }
  _exit(3);
}

static void end_main_thread(int after_ms) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, go_on, NULL) != 0) _exit(4);
  usleep((useconds_t)after_ms * 1000);
  pthread_exit(NULL);
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  rounds = atoi(argv[2]);
  if (strcmp(argv[1], "itself") == 0) end_main_thread(argc > 3 ? atoi(argv[3]) : 0);
  if (strcmp(argv[1], "namespace") == 0 && unshare(CLONE_NEWPID) != 0) return 77;
  const pid_t child = fork();
  if (child == 0) end_main_thread(0);
  int status = 0;
  if (waitpid(child, &status, 0) != child) return 1;
  return WIFEXITED(status) && WEXITSTATUS(status) == 3 ? 0 : 1;
}
