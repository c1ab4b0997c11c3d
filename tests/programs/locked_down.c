// A seccomp filter that kills the process for any call but those that glibc's own allocator makes:
// the tracker lives within the same.
//
// SITE function=before line=@before peak=1000/1 leaked=1000/1 total=1000/1
// SITE function=leaf line=@leaf peak=409600/4096 leaked=409600/4096 total=409600/4096
// WHOLE peak=410600/4097 leaked=410600/4097 total=410600/4097
#define _GNU_SOURCE
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void* volatile kept;

static void before(void) {
  kept = malloc(1000);  // @before
}

// 4^6 stacks, so that the tracker's tables have to grow behind the filter.
static void leaf(void) {
  kept = malloc(100);  // @leaf
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

#define ALLOW(call) \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

int main(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      ALLOW(SYS_brk),    ALLOW(SYS_mmap),     ALLOW(SYS_munmap),     ALLOW(SYS_mremap),
      ALLOW(SYS_mprotect), ALLOW(SYS_madvise), ALLOW(SYS_futex),     ALLOW(SYS_write),
      ALLOW(SYS_exit),   ALLOW(SYS_exit_group), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
  before();
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 77;
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) return 77;
  walk(6);
  return 0;
}
