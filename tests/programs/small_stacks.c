// Fibers of 4 KiB with a guard page below them, whose first event is the process's first, and the
// thread's. The tracker takes less than 2.5 KiB of the program's stack for everything, including
// the allocator's own part. jemalloc's part alone is 4.4 KiB (bare): with it the fibers have 8 KiB,
// and 7 KiB are the most.
//
// SITE function=body line=@first  peak=? leaked=0/0 total=200/2
// SITE function=body line=@second peak=? leaked=600/2 total=600/2
// TRACKER dropped_events=0 incomplete_stacks=0
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "which_allocator.h"

enum { kPage = 4096 };
static size_t stack_bytes = kPage, most = 2560;

static __thread ucontext_t outside, fiber;
static __thread void* volatile kept;

static void body(void) {
  kept = malloc(100);         // @first
  kept = realloc(kept, 300);  // @second
}

// How much of its stack the fiber wrote to.
static size_t run(void) {
  char* stack = mmap(NULL, kPage + stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack == MAP_FAILED || mprotect(stack, kPage, PROT_NONE) != 0) return stack_bytes;
  stack += kPage;
  memset(stack, 0x5a, stack_bytes);
  getcontext(&fiber);
  fiber.uc_stack.ss_sp = stack;
  fiber.uc_stack.ss_size = stack_bytes;
  fiber.uc_link = &outside;
  makecontext(&fiber, body, 0);
  swapcontext(&outside, &fiber);
  size_t untouched = 0;
  while (untouched < stack_bytes && stack[untouched] == 0x5a) ++untouched;
  return stack_bytes - untouched;
}

static void* thread(void* unused) {
  (void)unused;
  return (void*)run();
}

int main(void) {
  if (which_allocator() != kGlibc) {
    stack_bytes = 2 * kPage;
    most = 7168;
  }
  const size_t first = run();
  pthread_t other;
  void* second;
  if (pthread_create(&other, NULL, thread, NULL) != 0) return 77;
  pthread_join(other, &second);
  return first <= most && (size_t)second <= most ? 0 : 1;
}
