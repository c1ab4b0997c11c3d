// Not a known answer: a program that ends while malloc_trim, which isn't hooked, holds glibc's
// locks. Code that takes one of them waits for ever, and SIGALRM ends the program.
//
//   thread    a signal handler has stopped a second thread there, as a collector stops the world
//   handler   a signal handler that interrupted the only thread there calls exit
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t trims, stopped;

static void stop(int signal) {
  (void)signal;
  sigset_t all;
  sigfillset(&all);
  stopped = 1;
  for (;;) sigsuspend(&all);
}
static void leave(int signal) {
  (void)signal;
  exit(4);
}

static void* trim(void* unused) {
  for (;;) {
    malloc_trim(0);
    trims = 1;
  }
  return unused;
}

int main(int count, char** arguments) {
  if (count != 2) return 2;
  alarm(20);
  static void* blocks[20000];  // so many free ones that nearly all of trim's time is with the lock
  for (int i = 0; i < 20000; ++i) {
    blocks[i] = malloc(2000);
    if (malloc(20) == NULL) return 1;
  }
  for (int i = 0; i < 20000; ++i) free(blocks[i]);
  if (strcmp(arguments[1], "handler") == 0) {
    signal(SIGPROF, leave);
    const struct itimerval timer = {.it_value = {.tv_usec = 300000}};
    setitimer(ITIMER_PROF, &timer, NULL);
    trim(NULL);
  }
  signal(SIGUSR1, stop);
  pthread_t thread;
  if (pthread_create(&thread, NULL, trim, NULL) != 0) return 1;
  while (!trims) usleep(1000);
  pthread_kill(thread, SIGUSR1);
  while (!stopped) usleep(1000);
  return write(1, "done\n", 5) == 5 ? 0 : 1;
}
