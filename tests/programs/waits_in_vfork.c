// A thread waits in vfork() for two seconds, where it can't be stopped, while the main thread works
// for three. Prints the longest time in ms for which the main thread stood still.
//
// usage: waits_in_vfork
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void* waits(void* argument) {
  const pid_t pid = vfork();
  if (pid == 0) {
    const struct timespec two = {2, 0};
    nanosleep(&two, NULL);
    _exit(0);
  }
  waitpid(pid, NULL, 0);
  return argument;
}

int main(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, waits, NULL) != 0) return 1;
  puts("ready");
  fflush(stdout);
  const double begin = now_ms();
  double last = begin, longest = 0;
  while (last - begin < 3000) {
    free(malloc(100));
    usleep(1000);
    const double now = now_ms();
    if (now - last > longest) longest = now - last;
    last = now;
  }
  printf("%.0f\n", longest);
  return pthread_join(thread, NULL);
}
