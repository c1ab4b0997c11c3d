// Not a known answer: a second thread calls exit(6) 30 ms after the first one has called exit(5).
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static void* exit_later(void* unused) {
  usleep(30000);
  exit(6);
  return unused;
}

int main(void) {
  static void* volatile lost;
  lost = malloc(100);
  lost = malloc(200);

  pthread_t thread;
  pthread_create(&thread, NULL, exit_later, NULL);
  usleep(1000);
  exit(5);
}
