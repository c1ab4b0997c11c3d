// A seccomp filter that kills the process for any call except those of glibc's own allocator: the
// tracker must live with the same calls. The filter is set by libc's functions, by syscall(), or by
// the bare instruction, which no hook sees; prctl reports it if asked.
//
// CASE
// CASE args=syscall
// CASE args=instruction
// SITE function=before line=@before peak=1000/1 leaked=1000/1 total=1000/1
// SITE function=leaf line=@leaf peak=409600/4096 leaked=409600/4096 total=409600/4096
// WHOLE peak=410600/4097 leaked=410600/4097 total=410600/4097
#define _GNU_SOURCE
#include <linux/audit.h>
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

static long by_instruction(long number, long a, long b, const void* c) {
  long result;
  register long fourth __asm__("r10") = 0;
  register long fifth __asm__("r8") = 0;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth)
                   : "rcx", "r11", "memory");
  return result;
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "libc";
  const int answers = strcmp(how, "instruction") == 0 ? SYS_prctl : SYS_exit;
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      ALLOW(answers),
      ALLOW(SYS_brk),
      ALLOW(SYS_mmap),
      ALLOW(SYS_munmap),
      ALLOW(SYS_mremap),
      ALLOW(SYS_mprotect),
      ALLOW(SYS_madvise),
      ALLOW(SYS_futex),
      ALLOW(SYS_write),
      ALLOW(SYS_exit),
      ALLOW(SYS_exit_group),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
  before();
  if (strcmp(how, "syscall") == 0) {
    if (syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 77;
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) return 77;
  } else if (strcmp(how, "instruction") == 0) {
    if (by_instruction(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, NULL) != 0) return 77;
    if (by_instruction(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) return 77;
  } else {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 77;
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) return 77;
  }
  walk(6);
  return 0;
}
