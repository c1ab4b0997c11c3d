// Not a known answer: libc runs threads of its own for it, for a timer and for asynchronous input. It
// allocates until a line is on its input.
#define _GNU_SOURCE
#include <aio.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static volatile long ticks;

static void tick(union sigval value) {
  (void)value;
  ++ticks;
}

int main(void) {
  struct sigevent event = {.sigev_notify = SIGEV_THREAD};
  event.sigev_notify_function = tick;
  timer_t timer;
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  const struct itimerspec every = {{0, 300000000}, {0, 300000000}};
  timer_settime(timer, 0, &every, NULL);
  int ends[2];
  if (pipe(ends) != 0) return 1;
  static char byte;
  static struct aiocb wanted;
  wanted.aio_fildes = ends[0];
  wanted.aio_buf = &byte;
  wanted.aio_nbytes = 1;
  if (aio_read(&wanted) != 0) return 1;
  while (ticks == 0) usleep(10000);
  (void)!write(1, "ready\n", 6);
  struct pollfd input = {0, POLLIN, 0};
  while (poll(&input, 1, 5) == 0) free(malloc(100));
  (void)!write(1, "end\n", 4);
  return 0;
}
