// Not a known answer: it faults and traps all the time, and its handlers look at what the kernel says of
// that. Its end line: "F faults, T traps, W wrong". A line on its input ends it.
#define _GNU_SOURCE
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static char* page;
static sigjmp_buf again;
static volatile long faults, traps, wrong;

static void on_fault(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)context;
  ++faults;
  if (info->si_code != SEGV_ACCERR || info->si_addr != page + 8) ++wrong;
  siglongjmp(again, 1);
}

static void on_trap(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)context;
  ++traps;
  if (info->si_code <= 0) ++wrong;
}

int main(void) {
  page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &action, NULL);
  action.sa_sigaction = on_trap;
  sigaction(SIGTRAP, &action, NULL);
  (void)!write(1, "ready\n", 6);
  struct pollfd input = {0, POLLIN, 0};
  long made_traps = 0, made_faults = 0;
  do {
    for (volatile int i = 0; i < 50; ++i) {
      ++made_faults;
      if (sigsetjmp(again, 1) == 0) *(volatile char*)(page + 8) = 1;
      ++made_traps;
      __asm__ volatile("int3");
      free(malloc(50));
    }
  } while (poll(&input, 1, 0) == 0);
  wrong += labs(made_faults - faults) + labs(made_traps - traps);
  printf("%ld faults, %ld traps, %ld wrong\n", faults, traps, wrong);
  return 0;
}
