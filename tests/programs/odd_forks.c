// Children in states that fork() alone doesn't make. tests/e2e/odd_forks_test.py knows the figures.
// Exits with 77 if it can't do its part.
//
// usage: odd_forks HOW [ARGUMENTS]
#define _GNU_SOURCE
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <sys/wait.h>
#include <unistd.h>

static void* volatile kept[128];

static void hold(int at, size_t bytes) { kept[at % 128] = malloc(bytes); }

static int reap(pid_t pid) {
  int status = -1;
  if (pid <= 0 || waitpid(pid, &status, 0) != pid) return 100;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 200 + WTERMSIG(status);
}

// As fork(), without its handlers.
static pid_t clones(int flags) {
  return (pid_t)syscall(SYS_clone, SIGCHLD | flags, NULL, NULL, NULL, NULL);
}

// The child may split no mapping: the process has as many as it may.
static int maps_full(void) {
  hold(0, 1000);
  const size_t pages = 1 << 21;
  char* all =
      mmap(NULL, pages * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) return 77;
  size_t at = 0;
  while (at < pages && mprotect(all + at * 4096, 4096, PROT_READ) == 0) at += 2;
  if (at >= pages) return 77;  // there is no limit that can be reached
  pid_t pid = fork();
  if (pid == 0) {
    for (int i = 0; i < 10; ++i) hold(i, 100);
    _exit(3);
  }
  const int code = reap(pid);
  munmap(all, pages * 4096);
  return code == 3 ? 0 : code;
}

static pthread_barrier_t together;
static void* works(void* argument) {
  pthread_barrier_wait(&together);
  for (int i = 0; i < 10; ++i) hold(i, 500);
  return argument;
}

// The child allocates on threads alone: their stacks and all else are the parent's, used again.
static int thread_first(const char* how, int threads) {
  pthread_t ids[8];
  pthread_barrier_init(&together, NULL, (unsigned)threads);
  for (int i = 0; i < threads; ++i) {
    if (pthread_create(&ids[i], NULL, works, NULL) != 0) return 1;
  }
  for (int i = 0; i < threads; ++i) pthread_join(ids[i], NULL);
  pid_t pid = strcmp(how, "fork") == 0 ? fork() : clones(0);
  if (pid == 0) {
    for (int i = 0; i < threads; ++i) {
      if (pthread_create(&ids[i], NULL, works, NULL) != 0) _exit(4);
    }
    for (int i = 0; i < threads; ++i) pthread_join(ids[i], NULL);
    _exit(3);
  }
  return reap(pid) == 3 ? 0 : 2;
}

static int many(int children) {
  hold(0, 1000);
  for (int i = 0; i < children; ++i) {
    pid_t pid = fork();
    if (pid == 0) {
      hold(1, 200);
      _exit(3);
    }
    if (reap(pid) != 3) return 1;
  }
  return 0;
}

// The child begins to count when its parent is long gone, and what that had is given to others.
static int orphan(void) {
  int done[2];
  if (pipe(done) != 0) return 1;
  pid_t pid = fork();
  if (pid == 0) {
    hold(0, 1000);
    if (fork() != 0) _exit(3);
    char* mapped;
    usleep(700000);
    hold(1, 5000);
    mapped = mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    _exit(mapped == MAP_FAILED);
  }
  close(done[1]);
  if (reap(pid) != 3) return 2;
  char byte;
  return read(done[0], &byte, 1) == 0 ? 0 : 3;  // until the orphan has ended
}

// Workers in a namespace of pids whose first process never allocates, `depth` namespaces down.
// Each works for a while, and then others come.
static int workers(int count, int rounds) {
  for (int round = 0; round < 3; ++round) {
    pid_t pids[32];
    for (int i = 0; i < count; ++i) {
      pids[i] = fork();
      if (pids[i] < 0) return 5;
      if (pids[i] == 0) {
        for (int k = 0; k < rounds; ++k) {
          hold(k, 100);
          if (k % 10 == 0) usleep(1000);
        }
        _exit(3);
      }
    }
    for (int i = 0; i < count; ++i) {
      if (reap(pids[i]) != 3) return 6;
    }
  }
  return 0;
}
static int in_namespaces(int depth, int count, int rounds) {
  if (depth == 0) return workers(count, rounds);
  pid_t pid = clones(CLONE_NEWPID);
  if (pid < 0) return 77;
  if (pid == 0) _exit(in_namespaces(depth - 1, count, rounds));
  return reap(pid);
}

// A child by fork() in a signal handler at every third of the tracker's instructions in malloc(100),
// and in the free() of that block. The child ends the call that was interrupted, and itself. Prints
// how many blocks the parent had.
static struct {
  uintptr_t begin, end;
} tracker;
static volatile int steps_to_fork, in_child, failed_forks;

static int find_tracker(struct dl_phdr_info* object, size_t bytes, void* unused) {
  (void)bytes, (void)unused;
  if (strstr(object->dlpi_name, "libmemprof_preload") == NULL) return 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &object->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || (part->p_flags & PF_X) == 0) continue;
    tracker.begin = object->dlpi_addr + part->p_vaddr;
    tracker.end = tracker.begin + part->p_memsz;
  }
  return 1;
}

static void on_step(int number, siginfo_t* info, void* interrupted) {
  (void)number, (void)info;
  greg_t* registers = ((ucontext_t*)interrupted)->uc_mcontext.gregs;
  const uintptr_t at = (uintptr_t)registers[REG_RIP];
  if (at < tracker.begin || at >= tracker.end || --steps_to_fork != 0) return;
  registers[REG_EFL] &= ~0x100L;
  pid_t pid = fork();
  if (pid == 0) {
    in_child = 1;
  } else if (reap(pid) != 3) {
    ++failed_forks;
  }
}

#define STEP(call)                                                              \
  __asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "cc", "memory");   \
  call;                                                                         \
  __asm__ volatile("pushfq; andq $~0x100, (%%rsp); popfq" ::: "cc", "memory")

static int interrupted_events(int without_memory) {
  dl_iterate_phdr(find_tracker, NULL);
  const struct rlimit none = {1 << 20, 1 << 20};
  if (without_memory) free(malloc(100));  // the heap has memory to give
  if (without_memory && setrlimit(RLIMIT_AS, &none) != 0) return 77;
  struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO | SA_NODEFER};
  if (tracker.begin == 0 || sigaction(SIGTRAP, &action, NULL) != 0) return 77;
  int blocks = 0;
  for (int frees = 0; frees < 2; ++frees) {
    for (int step = 1, forked = 1; forked; step += 3) {
      void* volatile block;
      steps_to_fork = frees ? 0 : step;
      STEP(block = malloc(100));
      if (in_child) _exit(3);
      forked = steps_to_fork <= 0;
      steps_to_fork = frees ? step : 0;
      STEP(free(block));
      if (in_child) _exit(3);
      if (frees) forked = steps_to_fork <= 0;
      ++blocks;
    }
  }
  char text[16];
  const int bytes = snprintf(text, sizeof text, "%d\n", blocks);
  return failed_forks != 0 ? 3 : write(STDOUT_FILENO, text, (size_t)bytes) != bytes;
}

// A child in namespaces of users and of pids that becomes another user there, and executes nothing:
// its parent's user may not ask about it. Waits until somebody has mapped the users.
static int other_user(int count) {
  hold(0, 10);
  if (unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) return 77;
  char map[64];
  for (int i = 0; i < 1000; ++i) {
    FILE* file = fopen("/proc/self/gid_map", "r");
    const int mapped = file != NULL && fgets(map, sizeof map, file) != NULL;
    if (file != NULL) fclose(file);
    if (mapped) break;
    usleep(10000);
  }
  const pid_t child = fork();
  if (child == 0) {
    if (setgid(1) != 0 || setuid(1) != 0) _exit(77);
    for (int i = 0; i < count; ++i) {
      hold(i, 100);
      if (i % 10 == 0) usleep(10000);
    }
    _exit(0);
  }
  return reap(child);
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  const int number = argc > 2 ? atoi(argv[argc - 1]) : 0;
  if (strcmp(how, "maps-full") == 0) return maps_full();
  if (strcmp(how, "thread-first") == 0) return thread_first(argv[2], number);
  if (strcmp(how, "orphan") == 0) return orphan();
  if (strcmp(how, "many") == 0) return many(number);
  if (strcmp(how, "namespaces") == 0) {
    return in_namespaces(atoi(argv[2]), atoi(argv[3]), number);
  }
  if (strcmp(how, "interrupted-events") == 0) return interrupted_events(number);
  if (strcmp(how, "other-user") == 0) return other_user(number);
  if (strcmp(how, "workers") == 0) return workers(atoi(argv[2]), number);
  return 99;
}
