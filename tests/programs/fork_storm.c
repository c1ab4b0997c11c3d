// 100 forks while four threads allocate from ever new stacks, each child allocating too: a thread
// that was inside the tracker at the fork does not exist in the child, which must not wait for it.
//
// SITE function=main line=@last peak=? leaked=123456/1 total=123456/1
// SITE function=churn line=@churn peak=? leaked=0/0 total=?
// TRACKER dropped_events=0
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_int stop;
static void* volatile kept;

// Every value of `path` is another stack: two bits of it choose each call.
static void churn(unsigned path, int depth);
#define STEP(n) \
  __attribute__((noinline)) static void step##n(unsigned path, int depth) { churn(path, depth); }
STEP(0) STEP(1) STEP(2) STEP(3)

static void churn(unsigned path, int depth) {
  if (depth == 0) {
    void* blocks[16];
    for (int i = 0; i < 16; ++i) blocks[i] = malloc(24 + path % 64);  // @churn
    for (int i = 0; i < 16; ++i) free(blocks[i]);
    return;
  }
  void (*const steps[])(unsigned, int) = {step0, step1, step2, step3};
  steps[path & 3](path >> 2, depth - 1);
}

static void* work(void* argument) {
  unsigned path = (unsigned)(size_t)argument * 1000003u;
  while (!stop) churn(path++ & 0xfff, 6);
  return NULL;
}

int main(void) {
  pthread_t threads[4];
  for (size_t i = 0; i < 4; ++i) {
    if (pthread_create(&threads[i], NULL, work, (void*)i) != 0) return 1;
  }
  for (int i = 0; i < 100; ++i) {
    pid_t pid = fork();
    if (pid < 0) return 2;
    if (pid == 0) {
      alarm(20);  // a child that hangs is a failure, not a test that never ends
      churn((unsigned)i, 6);
      _exit(0);
    }
    int status = 0;
    if (waitpid(pid, &status, 0) != pid || status != 0) return 3;
  }
  stop = 1;
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  kept = malloc(123456);  // @last
  return 0;
}
