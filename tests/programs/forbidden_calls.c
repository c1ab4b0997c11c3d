// Keeps 20,000 blocks at some thousand places of its own, in a state in which the tracker can have no
// more memory. Prints "done" and its status is 0; 3: an allocation failed, 9: a system call that it
// doesn't make itself was dispatched to it, 77: it can't do its part.
//
// usage: forbidden_calls filter NUMBER…   a filter that kills for all calls but a few and these
//        forbidden_calls strict           seccomp's strict mode
//        forbidden_calls dispatch         its system calls are sent to it as signals (Wine)
//        forbidden_calls mappings         the kernel's limit of mappings is reached
//        forbidden_calls space            RLIMIT_AS is what it has
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile char dispatches;

static void* deep(int n, int way) {
  void* block = n == 0                     ? malloc(24)
                : (way >> n % 20 & 1) != 0 ? deep(n - 1, way)
                                           : deep(n - 1, way);
  __asm__ volatile("" ::: "memory");
  return block;
}

static void end(int status) { syscall(SYS_exit, status); }

static void say(const char* text) {
  dispatches = 0;
  write(1, text, strlen(text));
}

static void on_call(int number) {
  (void)number;
  dispatches = 0;
  _exit(9);
}

static int set_filter(char** numbers) {
  static struct sock_filter steps[64] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
  unsigned short n = 1;
  const int usual[] = {SYS_write, SYS_exit, SYS_brk};
  for (int i = 0; i < 3 || *numbers != NULL; ++i) {
    const unsigned number = i < 3 ? (unsigned)usual[i] : (unsigned)atoi(*numbers++);
    steps[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1);
    steps[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  }
  steps[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  struct sock_fprog program = {n, steps};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static int set_dispatch(void) {
  unsigned long begin = 0, end = 0;
  char line[512];
  FILE* maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps) != NULL) {
    if (strstr(line, "r-xp") != NULL && strstr(line, "/libc.so.6") != NULL)
      sscanf(line, "%lx-%lx", &begin, &end);
  }
  fclose(maps);
  signal(SIGSYS, on_call);
  if (prctl(59, 1, begin, end - begin, &dispatches) != 0) return 0;
  dispatches = 1;
  return 1;
}

static int set_space(void) {
  FILE* statm = fopen("/proc/self/statm", "r");
  unsigned long pages = 0;
  fscanf(statm, "%lu", &pages);
  fclose(statm);
  const struct rlimit limit = {pages * 4096, pages * 4096};
  return setrlimit(RLIMIT_AS, &limit) == 0;
}

static void set_mappings(void) {
  for (int i = 0; mmap(NULL, 4096, i % 2 == 0 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
                       -1, 0) != MAP_FAILED;
       ++i) {
  }
}

int main(int argc, char** argv) {
  // So that malloc itself needs nothing more.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  free(malloc(20 << 20));
  for (int i = 0; i < 700; ++i) deep(i % 200, i);
  const char* how = argv[1];
  int set = 1;
  if (strcmp(how, "filter") == 0) set = set_filter(argv + 2);
  if (strcmp(how, "strict") == 0) set = prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0;
  if (strcmp(how, "dispatch") == 0) set = set_dispatch();
  if (strcmp(how, "space") == 0) set = set_space();
  if (strcmp(how, "mappings") == 0) set_mappings();
  if (!set) return 77;
  for (int i = 0; i < 20000; ++i) {
    if (deep(i % 200, i) == NULL) {
      say("null\n");
      end(3);
    }
  }
  say("done\n");
  end(0);
}
