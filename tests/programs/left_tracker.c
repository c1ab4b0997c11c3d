// A timer's handler leaves the interrupted function by siglongjmp, 300 times: usually one of our
// hooks, at any of their instructions. Later events are counted. Other allocators can't be left
// like that (bare, they crash now and then): with them free(NULL) is interrupted, which changes
// nothing there.
//
// SITE function=churn line=@churn peak=? leaked=? total=?
// SITE function=main line=@after peak=? leaked=0/0 total=300000/3000
// SITE function=main line=@last  peak=? leaked=500000/500 total=1000000/1000
// TRACKER dropped_events>=1 dropped_events@other>=0
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "which_allocator.h"

static sigjmp_buf back;

static void leave(int signal) { siglongjmp(back, signal); }

static void churn(void) {
  for (;;) free(which_allocator() == kGlibc ? calloc(1, 16) : NULL);  // @churn
}

int main(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = leave;
  sigaction(SIGALRM, &action, NULL);
  for (volatile int i = 0; i < 300; ++i) {
    if (sigsetjmp(back, 1) == 0) {
      const struct itimerval once = {{0, 0}, {0, 500 + i}};
      setitimer(ITIMER_REAL, &once, NULL);
      churn();
    }
    for (int k = 0; k < 10; ++k) {
      void* p = malloc(100);  // @after
      free(p);
    }
  }
  static void* kept[1000];
  for (int i = 0; i < 1000; ++i) kept[i] = malloc(1000);  // @last
  for (int i = 0; i < 500; ++i) free(kept[i]);
  return 0;
}
