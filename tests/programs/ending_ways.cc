// Ends in the way that it is told, with a status of its own for each. It has lost 10 blocks of 1000
// bytes, and holds 5 of 100, which an exit handler frees.
//
// usage: ending_ways return|exit|_exit|quick_exit|thread|vfork|fork|handler|abort
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

static void* held[5];
static void* volatile sink;

static void Hold() {
  for (void*& block : held) block = malloc(100);
}
static void Lose() {
  for (int i = 0; i < 10; ++i) sink = malloc(1000);
  sink = nullptr;
}
static void FreeHeld() {
  for (void*& block : held) {
    free(block);
    block = nullptr;
  }
}
static void ExitAgain() { _exit(17); }
static void* ExitHere(void*) { exit(14); }
// What it had on the stack and in registers must not hold anything.
static void Forget() {
  volatile char bytes[65536];
  for (volatile char& byte : bytes) byte = 0;
}

int main(int, char** argv) {
  const char* how = argv[1];
  Hold();
  atexit(FreeHeld);
  Lose();
  Forget();
  if (strcmp(how, "exit") == 0) exit(11);
  if (strcmp(how, "_exit") == 0) _exit(12);
  if (strcmp(how, "quick_exit") == 0) quick_exit(13);
  if (strcmp(how, "thread") == 0) {
    pthread_t thread;
    pthread_create(&thread, nullptr, ExitHere, nullptr);
    pthread_join(thread, nullptr);
  }
  if (strcmp(how, "vfork") == 0) {
    if (vfork() == 0) _exit(0);
    return 15;
  }
  if (strcmp(how, "fork") == 0) {
    if (fork() == 0) exit(0);
    wait(nullptr);
    return 16;
  }
  if (strcmp(how, "handler") == 0) {
    atexit(ExitAgain);
    return 0;
  }
  if (strcmp(how, "abort") == 0) abort();
  return 10;
}
