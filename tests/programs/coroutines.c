// Two coroutines on stacks of their own, switched by swapcontext; one stack is unmapped before the
// other goes on.
//
// SITE function=left  line=@left  peak=100/10 leaked=100/10 total=100/10
// SITE function=right line=@right peak=200/10 leaked=200/10 total=200/10
// SITE function=main  line=@main  peak=300/10 leaked=300/10 total=300/10
// SITE function=main  line=@last  peak=9000/1 leaked=9000/1 total=9000/1
// WHOLE peak=9600/31 leaked=9600/31 total=9600/31
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

static ucontext_t main_context, left_context, right_context;
static void* volatile kept;

static void left(void) {
  for (int i = 0; i < 10; ++i) {
    kept = malloc(10);  // @left
    swapcontext(&left_context, &main_context);
  }
}
static void right(void) {
  for (int i = 0; i < 10; ++i) {
    kept = malloc(20);  // @right
    swapcontext(&right_context, &main_context);
  }
}

int main(void) {
  enum { kBytes = 65536 };
  void* stacks[2];
  for (int i = 0; i < 2; ++i) {
    stacks[i] =
        mmap(NULL, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stacks[i] == MAP_FAILED) return 1;
  }
  getcontext(&left_context);
  left_context.uc_stack.ss_sp = stacks[0];
  left_context.uc_stack.ss_size = kBytes;
  left_context.uc_link = &main_context;
  makecontext(&left_context, left, 0);
  getcontext(&right_context);
  right_context.uc_stack.ss_sp = stacks[1];
  right_context.uc_stack.ss_size = kBytes;
  right_context.uc_link = &main_context;
  makecontext(&right_context, right, 0);
  for (int i = 0; i < 10; ++i) {
    swapcontext(&main_context, &left_context);
    if (i == 9) munmap(stacks[0], kBytes);
    swapcontext(&main_context, &right_context);
    kept = malloc(30);  // @main
  }
  munmap(stacks[1], kBytes);
  kept = malloc(9000);  // @last
  return 0;
}
