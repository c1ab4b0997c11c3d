// Not a known answer: the first thread sleeps by calls that the kernel restarts by itself, while another
// opens and closes a library. Its end line: "C calls, I interrupted". A line on its input ends it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static volatile int stop;

static void* load(void* unused) {
  while (!stop) {
    void* library = dlopen("libresolv.so.2", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) abort();
    free(malloc(30));
    dlclose(library);
    usleep(200);
  }
  return unused;
}

static void* read_line(void* unused) {
  char byte;
  while (read(0, &byte, 1) < 0 && errno == EINTR) {
  }
  stop = 1;
  return unused;
}

int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, load, NULL);
  pthread_create(&threads[1], NULL, read_line, NULL);
  (void)!write(1, "ready\n", 6);
  long calls = 0, interrupted = 0;
  while (!stop) {
    const struct timespec nap = {1, 500000000};
    interrupted += (calls++ % 2 == 0 ? nanosleep(&nap, NULL) : poll(NULL, 0, 1500)) != 0;
  }
  pthread_join(threads[0], NULL);
  pthread_join(threads[1], NULL);
  printf("%ld calls, %ld interrupted\n", calls, interrupted);
  return 0;
}
