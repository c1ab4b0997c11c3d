// Every way to end, with the same heap at the end.
//
// CASE name=return    args=return    status=3   end=exit:3
// CASE name=exit      args=exit      status=4   end=exit:4
// CASE name=_exit     args=_exit     status=5   end=exit:5
// CASE name=quick     args=quick     status=6   end=exit:6
// CASE name=thread    args=thread    status=7   end=exit:7
// CASE name=abort     args=abort     status=134 end=signal:6
// CASE name=segv      args=segv      status=139 end=signal:11
// CASE name=term      args=term      status=143 end=signal:15
// CASE name=kill      args=kill      status=137 end=signal:9
// CASE name=pthread   args=pthread   status=0   end=exit:0
// SITE function=leak line=@leak peak=1000000/10 leaked=600000/6 total=1000000/10
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void* leak(void) {
  return malloc(100000);  // @leak
}

static void* exit_7(void* unused) {
  exit(7);
  return unused;
}

int main(int argc, char** argv) {
  struct rlimit none = {0, 0};
  void* blocks[10];
  if (argc != 2) return 1;
  setrlimit(RLIMIT_CORE, &none);
  for (int i = 0; i < 10; ++i) blocks[i] = leak();
  for (int i = 0; i < 4; ++i) free(blocks[i]);
  const char* way = argv[1];
  if (strcmp(way, "return") == 0) return 3;
  if (strcmp(way, "exit") == 0) exit(4);
  if (strcmp(way, "_exit") == 0) _exit(5);
  if (strcmp(way, "quick") == 0) quick_exit(6);
  if (strcmp(way, "abort") == 0) abort();
  if (strcmp(way, "segv") == 0) *(volatile int*)8 = 1;
  if (strcmp(way, "term") == 0) raise(SIGTERM);
  if (strcmp(way, "kill") == 0) kill(getpid(), SIGKILL);
  if (strcmp(way, "pthread") == 0) pthread_exit(NULL);
  if (strcmp(way, "thread") == 0) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, exit_7, NULL) == 0) pthread_join(thread, NULL);
  }
  return 2;
}
