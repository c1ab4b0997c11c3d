// Installs a filter of system calls that kills the process, and executes the command in the further
// words behind it. Without such words it runs behind the filter itself.
//
//   no-sockets  forbids socket and related calls
//   few-calls   forbids all except the calls of the loader, libc and this program
//   reboot      forbids only reboot
//   executes    the same as no-sockets, in a child that is waited for
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALL(call, then) \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1), BPF_STMT(BPF_RET | BPF_K, then)
#define ALLOW(call) CALL(call, SECCOMP_RET_ALLOW)
#define KILL(call) CALL(call, SECCOMP_RET_KILL_PROCESS)

static int install(struct sock_filter* filter, size_t bytes) {
  struct sock_fprog program = {bytes / sizeof *filter, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int forbid_sockets(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      KILL(SYS_socket),
      KILL(SYS_connect),
      KILL(SYS_sendto),
      KILL(SYS_recvmsg),
      KILL(SYS_setsockopt),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  return install(filter, sizeof filter);
}

static int allow_few(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      ALLOW(SYS_execve),
      ALLOW(SYS_brk),
      ALLOW(SYS_mmap),
      ALLOW(SYS_munmap),
      ALLOW(SYS_mprotect),
      ALLOW(SYS_openat),
      ALLOW(SYS_read),
      ALLOW(SYS_pread64),
      ALLOW(SYS_close),
      ALLOW(SYS_access),
      ALLOW(SYS_newfstatat),
      ALLOW(SYS_fstat),
      ALLOW(SYS_arch_prctl),
      ALLOW(SYS_set_tid_address),
      ALLOW(SYS_set_robust_list),
      ALLOW(SYS_rseq),
      ALLOW(SYS_prlimit64),
      ALLOW(SYS_getrandom),
      ALLOW(SYS_write),
      ALLOW(SYS_exit_group),
      ALLOW(SYS_futex),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  return install(filter, sizeof filter);
}

static int forbid_little(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      KILL(SYS_reboot),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  return install(filter, sizeof filter);
}

int main(int argc, char** argv) {
  void* volatile kept = malloc(1000);
  if (argc < 2) {
    for (int i = 0; i < 100; ++i) kept = malloc(100);
    const char said[] = "behind the filter\n";
    write(1, said, sizeof said - 1);
    return 5;
  }
  if (strcmp(argv[1], "executes") == 0) {
    const pid_t child = fork();
    if (child == 0) {
      if (forbid_sockets() != 0) _exit(77);
      execv(argv[2], argv + 2);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 9;
  }
  if ((strcmp(argv[1], "few-calls") == 0 ? allow_few()
       : strcmp(argv[1], "reboot") == 0  ? forbid_little()
                                         : forbid_sockets()) != 0) {
    return 77;
  }
  execv(argv[2], argv + 2);
  return 8;
}
