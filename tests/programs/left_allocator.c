// A signal handler leaves malloc by siglongjmp: later events are counted. But a handler on another
// stack that allocates within malloc, and returns, has left nothing: the alternate stack is below,
// above and within the thread's own.
//
// If a preloaded allocator replaces the program's, nothing is interrupted or left.
//
// SITE function=main line=@first peak=10/1  leaked=10/1  total=10/1
// SITE function=main line=@after peak=600/6 leaked=600/6 total=600/6
// SITE function=interrupted line=@interrupted peak=900/3 leaked=900/3 total=900/3
// SITE function=main line=@last  peak=9000/1 leaked=0/0 total=9000/1
// SITE function=leave_deep line=@left peak=0/0 leaked=0/0 total=0/0 peak@other=150/3 leaked@other=150/3 total@other=150/3
// TRACKER dropped_events=3 dropped_events@other=0
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

extern void (*volatile in_malloc)(void);
enum { kStackBytes = 65536 };
static sigjmp_buf back;
static void* volatile kept;
static volatile int returned;

static void leave(int signal) { siglongjmp(back, signal); }
static void leave_malloc(void) { raise(SIGUSR1); }

static void allocate(int signal) {
  free(malloc(40));  // malloc's own, for all that we can know
  ++returned;
  (void)signal;
}
static void interrupt_malloc(void) { raise(SIGUSR2); }

static void interrupted(void* alternate) {
  const stack_t stack = {.ss_sp = alternate, .ss_size = kStackBytes};
  if (sigaltstack(&stack, NULL) != 0) abort();
  in_malloc = interrupt_malloc;
  kept = malloc(300);  // @interrupted
}

// The stack is deeper than any seen before.
static void leave_deep(int depth) {
  volatile char frame[10000];
  frame[0] = (char)depth;
  if (depth > 0) {
    leave_deep(depth - 1);
  } else {
    in_malloc = leave_malloc;
    kept = malloc(50);  // @left
  }
  frame[1] = frame[0];
}

int main(void) {
  char own[kStackBytes];
  static char low[kStackBytes];
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = leave;
  sigaction(SIGUSR1, &action, NULL);
  action.sa_handler = allocate;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR2, &action, NULL);

  kept = malloc(10);  // @first
  for (volatile int i = 0; i < 3; ++i) {
    if (sigsetjmp(back, 1) == 0) leave_deep(i);
    for (int k = 0; k < 2; ++k) kept = malloc(100);  // @after
  }

  interrupted(low);
  interrupted(own);
  char* high = mmap((void*)0x7fffffff0000 - kStackBytes, kStackBytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (high == MAP_FAILED) return 1;
  interrupted(high);
  const int never_called = in_malloc != NULL;
  if (returned != (never_called ? 0 : 3)) return 2;
  free(malloc(9000));  // @last
  return 0;
}
