// Not a known answer. An allocator's statistics take its lock, and another thread holds it for
// ever. A tracker that asks for them waits for ever, and SIGALRM ends the program.
//
//   answers     nobody holds it, and there is one thread: the statistics may be asked for
//   stopped     a second thread was stopped in malloc, as a collector stops the world
//   ended       a second thread ended in malloc, within its signal handler
//   left        the only thread has left malloc by siglongjmp of its signal handler
//   exits       the only thread's signal handler interrupted malloc and calls exit
//   exits_ctl   … interrupted the statistics themselves, which are not hooked
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void (*volatile with_lock)(void);
int mallctl(const char*, void*, size_t*, void*, size_t);

static const char* what;
static sigjmp_buf back;
static void* volatile kept;
static volatile sig_atomic_t stopped;

static int is(const char* name) { return strcmp(what, name) == 0; }

static void handle(int signal) {
  if (is("left")) siglongjmp(back, signal);
  if (is("ended")) syscall(SYS_exit, 0);  // pthread_exit may need memory
  if (is("stopped")) {
    stopped = 1;
    for (;;) pause();
  }
  exit(4);
}
static void interrupt(void) { raise(SIGUSR1); }

static void* in_thread(void* unused) {
  kept = malloc(10);  // the tracker knows the thread
  with_lock = interrupt;
  kept = malloc(1000);
  return unused;
}

// Each depth is a new stack, at which the tracker may ask.
static void fresh_stack(int depth) {
  if (depth > 0) {
    fresh_stack(depth - 1);
  } else {
    kept = malloc(16);
  }
  __asm__ volatile("");
}

int main(int count, char** arguments) {
  if (count != 2) return 2;
  what = arguments[1];
  alarm(20);
  signal(SIGUSR1, handle);
  kept = memset(malloc(1 << 20), 1, 1 << 20);
  if (is("left")) {
    if (sigsetjmp(back, 1) == 0) {
      with_lock = interrupt;
      kept = malloc(1000);
    }
  } else if (is("exits")) {
    with_lock = interrupt;
    kept = malloc(1000);
  } else if (is("exits_ctl")) {
    with_lock = interrupt;
    mallctl("epoch", NULL, NULL, NULL, 0);
  } else if (!is("answers")) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, in_thread, NULL) != 0) return 1;
    if (is("ended")) pthread_join(thread, NULL);
    while (!is("ended") && !stopped) usleep(1000);
  }
  for (int i = 0; i < 100; ++i) {
    fresh_stack(i);
    usleep(2000);
  }
  return write(1, "done\n", 5) == 5 ? 0 : 1;
}
