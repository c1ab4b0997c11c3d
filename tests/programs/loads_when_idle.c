// Not a known answer: a thread that rarely gets a processor opens and closes a library in a loop, beside
// two that never sleep. It stops late when it is to, then maybe with the loader's lock.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static volatile int stop;

static void on_term(int number) {
  (void)number;
  stop = 1;
}

static void* load(void* unused) {
  struct sched_param none = {0};
  sched_setscheduler(0, SCHED_IDLE, &none);
  while (!stop) {
    void* library = dlopen("libresolv.so.2", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) abort();
    dlsym(library, "ns_name_ntop");
    free(malloc(30));
    dlclose(library);
  }
  return unused;
}

static void* burn(void* unused) {
  while (!stop) {
  }
  return unused;
}

int main(void) {
  signal(SIGTERM, on_term);
  pthread_t threads[3];
  pthread_create(&threads[0], NULL, load, NULL);
  pthread_create(&threads[1], NULL, burn, NULL);
  pthread_create(&threads[2], NULL, burn, NULL);
  (void)!write(1, "up\n", 3);
  while (!stop) usleep(10000);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
  (void)!write(1, "fine\n", 5);
  return 0;
}
