// A seccomp filter that kills the process for madvise, which malloc doesn't need, or (strict) for
// every call except write and exit. The tracker must live with the same calls, and goes on
// counting. The main thread's stack is followed into parts that were never seen before.
//
// CASE name=filter args=filter
// CASE name=strict args=strict
// SITE function=before line=@before peak=1000/1 leaked=1000/1 total=1000/1
// SITE function=leaf   line=@leaf   peak=40960/1024 leaked=40960/1024 total=40960/1024
// SITE function=bottom line=@bottom peak=500/1 leaked=500/1 total=500/1
// WITHIN function=main line=@walk peak=40960/1024 leaked=40960/1024 total=40960/1024
// WITHIN function=main line=@deep peak=500/1 leaked=500/1 total=500/1
// WHOLE peak=42460/1026 leaked=42460/1026 total=42460/1026
// TRACKER dropped_events=0 incomplete_stacks=0
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void* volatile kept;

static void before(void) {
  kept = malloc(1000);  // @before
}

// 4^5 stacks, so that the tracker's tables want to grow.
static void leaf(void) {
  kept = malloc(40);  // @leaf
}
static void walk(int depth) {
  if (depth == 0) {
    leaf();
    return;
  }
  walk(depth - 1);
  walk(depth - 1);
  walk(depth - 1);
  walk(depth - 1);
}

static void bottom(void) {
  kept = malloc(500);  // @bottom
}
static int deep(int depth) {
  char frame[8192];
  memset(frame, depth, sizeof frame);
  if (depth == 0) {
    bottom();
  } else {
    deep(depth - 1);
  }
  return frame[100];
}

static int forbid_madvise(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const int strict = strcmp(argv[1], "strict") == 0;
  before();
  if ((strict ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) : forbid_madvise()) != 0) return 77;
  walk(5);                           // @walk
  const int status = deep(20) - 20;  // @deep
  syscall(SYS_exit, status);         // exit_group is forbidden too
  return 1;
}
