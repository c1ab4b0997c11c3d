// Handlers that allocate: one for a raised signal, one on an alternate stack for a fault, one that
// a timer raises at any instruction of a loop that doesn't allocate.
//
// SITE function=on_raise line=@raise peak=100/10 leaked=0/0   total=100/10
// SITE function=on_fault line=@fault peak=500/1  leaked=500/1 total=500/1
// SITE function=on_timer line=@timer peak=0/0    leaked=0/0   total=1280/20
// SITE function=main     line=@top   peak=90000/1 leaked=0/0  total=90000/1
// WITHIN function=main   line=@raised peak=100/10 leaked=0/0  total=100/10
// WITHIN function=spin   peak=0/0 leaked=0/0 total=1280/20
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

static void* blocks[10];
static volatile int raised, ticks;
static void* volatile kept;
static sigjmp_buf back;

static void on_raise(int signal) {
  blocks[raised++] = malloc(10);  // @raise
  (void)signal;
}

static void on_fault(int signal) {
  kept = malloc(500);  // @fault
  (void)signal;
  siglongjmp(back, 1);
}

static void on_timer(int signal) {
  if (ticks < 20) free(malloc(64));  // @timer
  ++ticks;
  (void)signal;
}

__attribute__((noinline)) static void leaf(volatile unsigned* n) { *n = *n * 3 + 1; }

static void spin(void) {
  volatile unsigned n = 1;
  while (ticks < 20) leaf(&n);
}

int main(void) {
  static char alternate[65536];
  stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
  struct sigaction action;
  memset(&action, 0, sizeof action);
  sigaltstack(&stack, NULL);

  action.sa_handler = on_raise;
  sigaction(SIGUSR1, &action, NULL);
  for (int i = 0; i < 10; ++i) raise(SIGUSR1);  // @raised

  action.sa_handler = on_fault;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGSEGV, &action, NULL);
  if (sigsetjmp(back, 1) == 0) *(volatile int*)8 = 1;

  free(malloc(90000));  // @top
  for (int i = 0; i < 10; ++i) free(blocks[i]);

  action.sa_handler = on_timer;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, NULL);
  struct itimerval every = {{0, 2000}, {0, 2000}};
  setitimer(ITIMER_REAL, &every, NULL);
  spin();
  memset(&every, 0, sizeof every);
  setitimer(ITIMER_REAL, &every, NULL);
  return 0;
}
