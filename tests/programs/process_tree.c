// Processes that make others, in every way. tests/e2e/process_tree_test.py knows the figures.
//
// usage: process_tree HOW [ARGUMENTS]
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;
static char* self;
static void* volatile inherited[3];
static void* volatile kept[16];

static void hold(int at, size_t bytes) { kept[at] = malloc(bytes); }
static void end(int code) { _exit(code); }

static int reap(pid_t pid) {
  int status = -1;
  if (pid <= 0 || waitpid(pid, &status, 0) != pid) return 100;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 200 + WTERMSIG(status);
}

// 3000 bytes inherited; 10000 of its own, of which 5000 stay; an inherited block freed, another one
// replaced.
static void work(void) {
  hold(0, 5000);
  hold(1, 5000);
  free(inherited[0]);
  inherited[1] = realloc(inherited[1], 500);
  free(kept[1]);
}

static int forks(void) {
  pid_t pid = fork();
  if (pid == 0) {
    work();
    end(3);
  }
  return reap(pid) == 3 ? 0 : 1;
}

static int clones(void) {
  pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
  if (pid == 0) {
    work();
    end(3);
  }
  return reap(pid) == 3 ? 0 : 1;
}

// A grandchild of a grandchild: each has what those before it had.
static int nests(int depth) {
  if (depth == 0) return 0;
  pid_t pid = fork();
  if (pid == 0) {
    hold(depth, (size_t)depth * 1000);
    end(nests(depth - 1));
  }
  return reap(pid);
}

static char* leaf_arguments[] = {"leaf", "leaf", NULL};
static int leaf(void) {
  hold(0, 2000);
  return 5;
}
static int execs(void) {  // allocates before it executes the leaf
  pid_t pid = fork();
  if (pid == 0) {
    hold(0, 600);
    execv(self, leaf_arguments);
    end(9);
  }
  return reap(pid) == 5 ? 0 : 1;
}
static int spawns(void) {
  pid_t pid = vfork();
  if (pid == 0) {
    execv(self, leaf_arguments);
    _exit(9);
  }
  if (reap(pid) != 5) return 1;
  if (posix_spawn(&pid, self, NULL, NULL, leaf_arguments, environ) != 0) return 2;
  return reap(pid) == 5 ? 0 : 3;
}

// Out of the parent's session, twice; lives until the file is gone.
static int daemonises(const char* until_gone) {
  pid_t pid = fork();
  if (pid == 0) {
    setsid();
    if (fork() != 0) end(0);
    for (int fd = 0; fd < 3; ++fd) close(fd);
    hold(0, 4000);
    while (access(until_gone, F_OK) == 0) usleep(10000);
    hold(1, 40);
    end(0);
  }
  return reap(pid);
}

static int bombs(int children, int at_once) {
  for (int i = 0; i < children;) {
    pid_t pids[64];
    int n = 0;
    for (; n < at_once && i < children; ++n, ++i) {
      pids[n] = fork();
      if (pids[n] < 0) return 1;
      if (pids[n] == 0) {
        hold(0, 100);
        end(0);
      }
    }
    while (n > 0) {
      if (reap(pids[--n]) != 0) return 2;
    }
  }
  return 0;
}

// Workers that live at once, and end when they are told.
static int keeps(int workers, size_t bytes) {
  int go[2];
  pid_t pids[256];
  if (workers > 256 || pipe(go) != 0) return 1;
  for (int i = 0; i < workers; ++i) {
    pids[i] = fork();
    if (pids[i] < 0) return 2;
    if (pids[i] == 0) {
      char byte;
      close(go[1]);
      for (int k = 0; k < 100; ++k) hold(k % 16, bytes + (size_t)k);
      (void)!read(go[0], &byte, 1);
      end(0);
    }
  }
  usleep(300000);
  close(go[1]);
  for (int i = 0; i < workers; ++i) {
    if (reap(pids[i]) != 0) return 3;
  }
  return 0;
}

// --- children that shut themselves in before they allocate ---------------------------------------

#define ALLOW(call) \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
static int filters(int may_fork) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      ALLOW(SYS_brk), ALLOW(SYS_mmap), ALLOW(SYS_munmap), ALLOW(SYS_mremap), ALLOW(SYS_mprotect),
      ALLOW(SYS_exit_group),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  struct sock_filter forking[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      ALLOW(SYS_brk), ALLOW(SYS_mmap), ALLOW(SYS_munmap), ALLOW(SYS_mremap), ALLOW(SYS_mprotect),
      ALLOW(SYS_exit_group), ALLOW(SYS_clone), ALLOW(SYS_wait4), ALLOW(SYS_rt_sigprocmask),
      ALLOW(SYS_set_robust_list), ALLOW(SYS_rseq), ALLOW(SYS_gettid),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
  struct sock_fprog with_fork = {sizeof forking / sizeof forking[0], forking};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 77;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, may_fork ? &with_fork : &program) == 0 ? 0 : 77;
}

static int shuts_in(const char* how) {
  if (strcmp(how, "forking-filter") == 0 && filters(1) != 0) return 77;
  pid_t pid = fork();
  if (pid == 0) {
    if (strcmp(how, "filter") == 0 && filters(0) != 0) end(77);
    if (strcmp(how, "descriptors") == 0) {
      struct rlimit none = {0, 0};
      for (int fd = 0; fd < 1024; ++fd) close(fd);
      setrlimit(RLIMIT_NOFILE, &none);
      setrlimit(RLIMIT_FSIZE, &none);
    }
    if (strcmp(how, "root") == 0) {
      if (chdir("/proc/self/fdinfo") != 0 || chroot(".") != 0 || chdir("/") != 0) end(77);
      if (setgid(65534) != 0 || setuid(65534) != 0) end(77);
    }
    if (strcmp(how, "session") == 0) setsid();
    if (strcmp(how, "undumpable") == 0) prctl(PR_SET_DUMPABLE, 0);
    if (strcmp(how, "no-proc") == 0) {
      if (unshare(CLONE_NEWNS) != 0 || syscall(SYS_umount2, "/proc", 2) != 0) end(77);
      syscall(SYS_umount2, "/dev/shm", 2);
    }
    work();
    end(3);
  }
  const int code = reap(pid);
  return code == 3 ? 0 : code == 77 ? 77 : 1;
}

// In a namespace of pids of its own: each says that it is 1.
static int namespaces(void) {
  for (int i = 0; i < 2; ++i) {
    pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD | CLONE_NEWPID, NULL, NULL, NULL, NULL);
    if (pid < 0) return 77;
    if (pid == 0) {
      hold(0, 7000 + (size_t)i);
      usleep(400000);
      end(getpid() == 1 ? 3 : 4);
    }
    if (reap(pid) != 3) return 1;
  }
  return 0;
}

// --- fork while threads are in the middle of anything --------------------------------------------

static atomic_int stop;
static void churn(unsigned path, int depth);
#define STEP(n) \
  __attribute__((noinline)) static void step##n(unsigned path, int depth) { churn(path, depth); }
STEP(0) STEP(1) STEP(2) STEP(3)
static void churn(unsigned path, int depth) {
  if (depth == 0) {
    void* blocks[64];
    for (int i = 0; i < 64; ++i) blocks[i] = malloc(24 + path % 64);
    for (int i = 0; i < 64; ++i) free(blocks[i]);
    return;
  }
  void (*const steps[])(unsigned, int) = {step0, step1, step2, step3};
  steps[path & 3](path >> 2, depth - 1);
}
static void* churns(void* argument) {
  unsigned path = (unsigned)(size_t)argument * 1000003u;
  while (!stop) churn(path++ & 0xfff, 6);
  return NULL;
}
static int storms(int children) {
  pthread_t threads[4];
  for (size_t i = 0; i < 4; ++i) {
    if (pthread_create(&threads[i], NULL, churns, (void*)i) != 0) return 1;
  }
  for (int i = 0; i < children; ++i) {
    pid_t pid = fork();
    if (pid == 0) {
      alarm(20);  // a child that hangs is a failure, not a test that never ends
      enum { kBlocks = 20000 };  // its own tables grow
      void** blocks = malloc(kBlocks * sizeof *blocks);
      for (int k = 0; k < kBlocks; ++k) blocks[k] = malloc(10);
      for (unsigned path = 0; path < 64; ++path) churn(path * 61, 6);
      for (int k = 0; k < kBlocks; ++k) free(blocks[k]);
      free(blocks);
      hold(0, 1111);
      end(0);
    }
    const int code = reap(pid);
    if (code != 0) return code;
  }
  stop = 1;
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  return 0;
}

// The child lives for a while without a tracker: its environment is clean.
static int cleans(void) {
  char* nothing[] = {NULL};
  char* arguments[] = {"sleep", "2.5", NULL};
  pid_t pid = fork();
  if (pid == 0) {
    execve("/bin/sleep", arguments, nothing);
    _exit(9);
  }
  return reap(pid);
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  self = "/proc/self/exe";
  if (strcmp(how, "leaf") == 0) return leaf();
  for (int i = 0; i < 3; ++i) inherited[i] = malloc(1000);
  if (strcmp(how, "fork") == 0) return forks();
  if (strcmp(how, "clone") == 0) return clones();
  if (strcmp(how, "nest") == 0) return nests(atoi(argv[2]));
  if (strcmp(how, "exec") == 0) return execs();
  if (strcmp(how, "spawn") == 0) return spawns();
  if (strcmp(how, "daemon") == 0) return daemonises(argv[2]);
  if (strcmp(how, "bomb") == 0) return bombs(atoi(argv[2]), atoi(argv[3]));
  if (strcmp(how, "keep") == 0) return keeps(atoi(argv[2]), (size_t)atoi(argv[3]));
  if (strcmp(how, "shut") == 0) return shuts_in(argv[2]);
  if (strcmp(how, "namespaces") == 0) return namespaces();
  if (strcmp(how, "storm") == 0) return storms(atoi(argv[2]));
  if (strcmp(how, "clean") == 0) return cleans();
  return 99;
}
